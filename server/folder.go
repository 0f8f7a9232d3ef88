package server

import (
	"context"
	"os"
	"reflect"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/worktree"
)

// folder is one folder that loops run in: of the workspace, or named by a start.
type folder struct {
	workspace *workspace
	path      string             // the first of the names that it was given
	real      string             // the path without links: two names may mean one folder
	names     []string           // the paths under which the editor has it open
	removed   bool               // the editor had it open, and has no more
	isTree    bool               // it is in a worktree of a folder that the editor had open
	origin    string             // the folder that the worktree of our loop was made in, which takes it along when it is closed
	ctx       context.Context    // ends when the folder is forgotten
	unwatch   context.CancelFunc // ends it
	looked    chan struct{}      // closed when its state file was looked at once
	news      chan struct{}      // holds one signal: its loop may have changed

	starting int       // how many of ours begin just now
	running  *managed  // ours, until it ended
	last     *managed  // ours, the last one that ended
	seen     *seenLoop // one that we don't drive
	question *question // what the user is asked about its loop; nil: nothing

	review  review             // of its last loop's changes
	undoing context.CancelFunc // withdraws what the user is asked about an undo; nil: nothing
}

// hasOurs says whether a loop of ours runs in the folder, or begins: it has a state file
// and an owner before anybody knows that they are ours. The caller holds the workspace's mu.
func (f *folder) hasOurs() bool { return f.running != nil || f.starting > 0 }

// isOurs is hasOurs for who doesn't hold the lock.
func (f *folder) isOurs() bool {
	f.workspace.mu.Lock()
	defer f.workspace.mu.Unlock()
	return f.hasOurs()
}

// seesLoop says whether the folder has a loop that we don't drive.
func (f *folder) seesLoop() bool {
	f.workspace.mu.Lock()
	defer f.workspace.mu.Unlock()
	return f.seen != nil
}

// see takes note of what was seen in the folder, unless a loop of ours runs there by
// now. It returns what was there before and what is, and whether the changes there are
// to be looked at.
func (f *folder) see(found *seenLoop) (before, now *seenLoop, refresh bool) {
	f.workspace.mu.Lock()
	defer f.workspace.mu.Unlock()
	before = f.seen
	if !f.hasOurs() {
		f.seen = found
	}
	now = f.seen
	moved := !samePlace(before, now)
	if moved && now != nil && now.status.State == loop.StateRunning {
		f.withdrawUndo()
	}
	if f.question != nil && f.question.situation != now.situation() {
		f.withdraw()
	}
	if now != nil && !now.status.State.Over() {
		delete(f.workspace.asked, askedOf{f.path, now.status.LoopID}) // when it stops again, that is news
	}
	return before, now, moved || !f.review.begun
}

// gaveUp says that a loop of ours that began could not be started.
func (f *folder) gaveUp() {
	f.workspace.mu.Lock()
	defer f.workspace.mu.Unlock()
	f.starting--
	f.workspace.forget(f)
}

// runs says that a loop of ours that began runs in the folder. It isn't wanted any
// more when the server shuts down, or the folder was taken out meanwhile.
func (f *folder) runs(r *managed) (wanted bool) {
	f.workspace.mu.Lock()
	defer f.workspace.mu.Unlock()
	f.starting--
	f.running, f.seen = r, nil
	f.withdraw()
	delete(f.workspace.asked, askedOf{f.path, r.ID()})
	return !f.workspace.closed && !f.removed
}

// ended says that a loop of ours ended in the folder, and what it left there. It
// returns whether the folder is open, and whether the server shuts down.
func (f *folder) ended(r *managed, left *seenLoop) (isOpen, closing bool) {
	f.workspace.mu.Lock()
	defer f.workspace.mu.Unlock()
	if f.running == r { // else another was started as soon as the editor heard of the end
		f.running, f.seen = nil, left
	}
	f.last = r
	f.workspace.forget(f)
	return len(f.names) > 0, f.workspace.closed
}

// followed is the loop of the folder as far as a follower has to know: whether it is
// ours, else what to follow, from where, and whether somebody drives it.
func (f *folder) followed() (now tail, ours, driven bool) {
	f.workspace.mu.Lock()
	defer f.workspace.mu.Unlock()
	if f.seen != nil {
		s := f.seen.status
		now.loopID, driven = s.LoopID, !s.State.Over()
	}
	if r := f.last; r != nil && r.feed.Log().Kept() && r.ID() == now.loopID {
		now.cursor = r.feed.Log().End()
	}
	return now, f.hasOurs(), driven
}

// askOnce returns the context of a question about a loop that was left in the folder,
// nil when it was asked already, the loop is another one by now, or the editor leaves.
func (f *folder) askOnce(found *seenLoop) context.Context {
	f.workspace.mu.Lock()
	defer f.workspace.mu.Unlock()
	loopOf := askedOf{f.path, found.status.LoopID}
	if f.workspace.closed || f.workspace.asked[loopOf] || f.seen != found || f.workspace.folders[f.path] != f {
		return nil
	}
	f.workspace.asked[loopOf] = true
	return f.questionAbout(found.situation())
}

// isPast says whether our loop that ended last could go on, and can't any more, or went on and is over: it would be seen.
func (f *folder) isPast() bool {
	_, err := os.Stat(f.path) // of a worktree that has landed nothing is seen
	why := f.last.Status().StopReason
	return why == loop.StopDetached || err == nil && why.Ending().Kept
}

// now is the folder's loop as it stands.
func (f *folder) now() (now loop.Status, isThere bool) {
	switch {
	case f.running != nil:
		now = f.running.Status()
	case f.seen != nil:
		now = f.seen.status
	case f.last != nil && !f.isPast():
		now = f.last.Status()
		if now.State.Left() { // the same, or its file is gone
			now.State = loop.StateEnded
		}
	default:
		return now, false
	}
	return now, true
}

// driven is the folder's loop for who commands it.
func (f *folder) driven() loop.Handle {
	if f.running != nil {
		return f.running
	}
	return loop.Other{Folder: f.path}
}

// status is the folder's loop: ours, the one we see, or ours that ended last.
func (f *folder) status() (wire.LoopStatus, bool) {
	now, isThere := f.now()
	if !isThere {
		return wire.LoopStatus{}, false
	}
	status := wire.StatusOf(now, f.running != nil || f.seen == nil)
	if now.Worktree != nil && now.State.Over() {
		if _, isThere := worktree.Find(now.Folder); !isThere {
			status.Offers, status.Can = nil, nil // it has landed, say
			status.Details = append(status.Details, wire.TreeIsGone)
		}
	}
	if known := f.review.known; known.Loop.LoopID == now.LoopID && known.Text != "" {
		status.Details = append(status.Details, wire.Detail{Label: "Changed", Text: known.Text})
	}
	return status, true
}

// logs are those of a folder: of its loop, and of ours that ended last.
func (f *folder) logs() (logs []loopLog) {
	if r := f.running; r != nil {
		logs = append(logs, loopLog{r.ID(), r.Status().SessionFile, r.feed.Log(), true})
	}
	if f.seen != nil {
		s := f.seen.status
		logs = append(logs, loopLog{s.LoopID, s.SessionFile, nil, !s.State.Over()})
	}
	if r := f.last; r != nil {
		last := loopLog{r.ID(), r.Status().SessionFile, r.feed.Log(), false}
		if r.feed.Log().Kept() { // it may have gone on elsewhere
			last.live = nil
		}
		logs = append(logs, last)
	}
	return logs
}

// seenLoop is a loop that another process drives, or nobody.
type seenLoop struct {
	status loop.Status
	owner  loopstate.Owner
}

// changed lets who follows the folder's loop look at it.
func (f *folder) changed() {
	select {
	case f.news <- struct{}{}:
	default: // it looks soon
	}
}

// situation names what is in a folder as far as a question depends on it.
func (s *seenLoop) situation() string {
	if s == nil {
		return ""
	}
	if state := s.status.State; state.Over() {
		return string(state) + " " + s.status.LoopID
	}
	return "driven " + s.status.LoopID
}

// seenIn is the loop in a folder that we don't drive; nil for none, and for one
// that can't be read: its diagnostics say so.
func seenIn(path string) *seenLoop {
	status, owner, _, err := loop.FolderStatus(path)
	if err != nil {
		return nil
	}
	return &seenLoop{status: status, owner: owner}
}

// samePlace says whether two looks saw the same loop in the same iteration: its
// snapshots are the same.
func samePlace(a, b *seenLoop) bool {
	if a == nil || b == nil {
		return a == b
	}
	x, y := a.status, b.status
	return x.LoopID == y.LoopID && x.State == y.State && x.Iteration == y.Iteration
}

// sameLoop says whether two looks saw the same.
func sameLoop(a, b *seenLoop) bool {
	if a == nil || b == nil {
		return a == b
	}
	x, y := a.status, b.status
	return samePlace(a, b) && x.Cost == y.Cost && x.Pausing == y.Pausing && reflect.DeepEqual(x.Tool, y.Tool) && a.owner.PID == b.owner.PID && reflect.DeepEqual(x.Questions, y.Questions) && slices.Equal(x.Allowed, y.Allowed)
}
