package folders

import (
	"context"
	"os"
	"reflect"
	"slices"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/server/feed"
	"github.com/ralph-lsp/ralph-lsp/server/permission"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// Folder is one folder that loops run in: of the workspace, or named by a start.
type Folder struct {
	workspace *Workspace
	Path      string             // the first of the names that it was given
	real      string             // the path without links: two names may mean one folder
	names     []string           // the paths under which the editor has it open
	removed   bool               // the editor had it open, and closed it
	isTree    bool               // it is in a worktree of a folder that the editor had open
	origin    string             // the folder that the worktree of our loop was made in, which takes it along when it is closed
	ctx       context.Context    // ends when the folder is forgotten
	unwatch   context.CancelFunc // ends it
	looked    chan struct{}      // closed when its state file was looked at once
	noted     chan struct{}      // holds one signal for the watch: seen was set

	looking  sync.Mutex   // see look
	starting int          // how many of ours begin just now, or are met
	running  *Managed     // that we are a window of, until it ended
	last     *Managed     // the last of these that ended
	tried    tried        // whose window we wanted to be
	seen     *loop.Status // one that we are no window of
	// meeting is closed when we are a window of the loop, or nothing came of that; nil: we aren't about to become one. What
	// the loop's files say is told only then.
	meeting   chan struct{}
	left      Questions // the user's question about a loop that nobody drives
	situation string    // in which that is asked; in another one it is moot

	review review    // of its last loop's changes
	Undo   Questions // the user's question about an undo
}

// hasOurs says whether we are a window of a loop in the folder, or one of ours begins there: it has a state file
// and an owner before anybody knows that they are ours. The caller holds the workspace's mu.
func (f *Folder) hasOurs() bool { return f.running != nil || f.starting > 0 }

// isOurs is hasOurs for who doesn't hold the lock.
func (f *Folder) isOurs() bool {
	f.workspace.mu.Lock()
	defer f.workspace.mu.Unlock()
	return f.hasOurs()
}

// seesLoop says whether the folder has a loop that we are no window of.
func (f *Folder) seesLoop() bool {
	f.workspace.mu.Lock()
	defer f.workspace.mu.Unlock()
	return f.seen != nil
}

// look calls note with what is in the folder, nil for nothing. note has the workspace's mu, and each
// look is noted before another begins: an earlier one would else be believed after a later one.
func (f *Folder) look(note func(found *loop.Status)) {
	f.looking.Lock()
	defer f.looking.Unlock()
	found := seenIn(f.Path)
	f.workspace.mu.Lock()
	defer f.workspace.mu.Unlock()
	note(found)
}

// see takes note of what is found in the folder, unless a loop of ours runs there by
// now. It returns what was there before and what is, and whether the changes there are
// to be looked at. The caller holds the workspace's mu.
func (f *Folder) see(found *loop.Status) (before, now *loop.Status, refresh bool) {
	before = f.seen
	if !f.hasOurs() {
		f.note(found)
	}
	now = f.seen
	moved := !samePlace(before, now)
	if moved && now != nil && now.State == loop.StateRunning {
		f.Undo.Withdraw()
	}
	if f.situation != "" && f.situation != situationOf(now) {
		f.withdraw()
	}
	if now != nil && !now.State.Over() {
		delete(f.workspace.asked, askedOf{f.Path, now.LoopID}) // when it stops again, that is news
	}
	return before, now, moved || !f.review.begun
}

// note notes what is found in the folder, and lets the watch look at it now and then. The caller holds the workspace's mu.
func (f *Folder) note(found *loop.Status) {
	f.seen = found
	select {
	case f.noted <- struct{}{}:
	default: // it looks soon
	}
}

// GaveUp says that a loop of ours that began could not be started.
func (f *Folder) GaveUp() {
	f.workspace.mu.Lock()
	defer f.workspace.mu.Unlock()
	f.starting--
	f.isMet()
	f.workspace.forget(f)
}

// Runs says that a loop that began, or was met, runs in the folder. It isn't wanted any
// more when the server shuts down, or the folder was taken out meanwhile.
func (f *Folder) Runs(r *Managed) (wanted bool) {
	f.workspace.mu.Lock()
	defer f.workspace.mu.Unlock()
	f.starting--
	f.running, f.seen, f.tried = r, nil, tried{}
	f.isMet()
	f.withdraw()
	delete(f.workspace.asked, askedOf{f.Path, r.ID()})
	return !f.workspace.closed && !f.removed
}

// Ended says that a loop of ours ended in the folder. It returns what that left there, or nil,
// whether the folder is open, and whether the server shuts down.
func (f *Folder) Ended(r *Managed) (left *loop.Status, isOpen, closing bool) {
	f.look(func(found *loop.Status) { // now, so that nobody sees the loop without what it left
		if f.running == r { // else another was started as soon as the editor heard of the end
			f.running = nil
			f.note(found)
		}
		if f.last != nil {
			f.last.Story.Close()
		}
		f.last = r
		f.workspace.forget(f)
		left, isOpen, closing = found, len(f.names) > 0, f.workspace.closed
	})
	return left, isOpen, closing
}

// AskOnce returns the context of a question about a loop that was left in the folder,
// nil when it was asked already, the loop is another one by now, or the editor leaves.
func (f *Folder) AskOnce(found *loop.Status) context.Context {
	f.workspace.mu.Lock()
	defer f.workspace.mu.Unlock()
	loopOf := askedOf{f.Path, found.LoopID}
	if f.workspace.closed || f.workspace.asked[loopOf] || f.seen != found || f.workspace.folders[f.Path] != f {
		return nil
	}
	f.workspace.asked[loopOf] = true
	f.withdraw()
	f.situation = situationOf(found)
	return f.left.Ask(f.workspace.Ctx)
}

// isPast says whether the loop that ended last could go on, and can't any more, or went on and is over: it would be seen.
func (f *Folder) isPast() bool {
	_, err := os.Stat(f.Path) // of a worktree that has landed nothing is seen
	why := f.last.Status().StopReason
	return err == nil && (why == loop.StopInterrupted || why.Ending().Kept)
}

// now is the folder's loop as it stands.
func (f *Folder) now() (now loop.Status, isThere bool) {
	switch {
	case f.running != nil:
		now = f.running.Status()
	case f.seen != nil && f.meeting == nil:
		now = *f.seen
	case f.last != nil && !f.isPast():
		now = f.last.Status()
		if now.State.Left() || !now.State.Over() { // the same, or its process was killed, and its file is gone
			now.State = loop.StateEnded
		}
	default:
		return now, false
	}
	return now, true
}

// driven is the folder's loop for who commands it.
func (f *Folder) driven() loop.Handle {
	if f.running != nil {
		return f.running
	}
	return loop.Other{Folder: f.Path}
}

// status is the folder's loop: ours, the one we see, or ours that ended last.
func (f *Folder) status() (wire.LoopStatus, bool) {
	now, isThere := f.now()
	if !isThere {
		return wire.LoopStatus{}, false
	}
	of := f.running
	if of == nil && (f.seen == nil || f.meeting != nil) {
		of = f.last
	}
	status := wire.StatusOf(now, of != nil && of.Owns())
	if now.Worktree != nil && now.State.Over() {
		if _, isThere := worktree.Find(now.Folder); !isThere {
			status.Offers, status.Can = nil, nil // it has landed, say
			status.Details = append(status.Details, wire.TreeIsGone)
		}
	}
	if known := f.review.known; known.Loop.LoopID == now.LoopID && known.Text != "" {
		status.Details = append(status.Details, wire.Detail{Label: "Changed", Text: known.Text})
	}
	status.Talks = feed.Talks(status, now)
	return status, true
}

// logs returns the logs of a folder: its loop's, and the one of the loop that ended last.
func (f *Folder) logs() (logs []service.Log) {
	if r := f.running; r != nil {
		logs = append(logs, service.Log{LoopID: r.ID(), SessionFile: r.Status().SessionFile, Reader: r.Story, Goes: true})
	}
	if s := f.seen; s != nil {
		logs = append(logs, service.Log{LoopID: s.LoopID, SessionFile: s.SessionFile, Goes: !s.State.Over()})
	}
	if r := f.last; r != nil {
		logs = append(logs, service.Log{LoopID: r.ID(), SessionFile: r.Status().SessionFile, Reader: r.Story})
	}
	return logs
}

// situationOf names what is in a folder as far as a question depends on it.
func situationOf(s *loop.Status) string {
	if s == nil {
		return ""
	}
	if s.State.Over() {
		return string(s.State) + " " + s.LoopID
	}
	return "driven " + s.LoopID
}

// seenIn is the loop in a folder that we are no window of; nil for none, and for one
// that can't be read: its diagnostics say so.
func seenIn(path string) *loop.Status {
	status, err := loop.FolderStatus(path)
	if err != nil {
		return nil
	}
	return &status
}

// samePlace says whether two looks saw the same loop in the same iteration: its
// snapshots are the same.
func samePlace(a, b *loop.Status) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.LoopID == b.LoopID && a.State == b.State && a.Iteration == b.Iteration
}

// sameLoop says whether two looks saw the same.
func sameLoop(a, b *loop.Status) bool {
	if a == nil || b == nil {
		return a == b
	}
	return samePlace(a, b) && a.Cost == b.Cost && a.Pausing == b.Pausing && reflect.DeepEqual(a.Tool, b.Tool) &&
		reflect.DeepEqual(a.Questions, b.Questions) &&
		slices.Equal(a.Allowed, b.Allowed) && (a.Owner == b.Owner || a.Owner != nil && b.Owner != nil && a.Owner.PID == b.Owner.PID)
}

// withdraw takes back what the user is asked about the folder. The caller holds the workspace's mu.
func (f *Folder) withdraw() {
	f.Undo.Withdraw()
	f.left.Withdraw()
	f.situation = ""
}

// askedOf is a loop of which the user was asked what to do with it.
type askedOf struct{ folder, loopID string }

// Within ends when the folder is forgotten.
func (f *Folder) Within() context.Context { return f.ctx }

// Name begins what a user is told of its loop.
func (f *Folder) Name() string {
	f.workspace.mu.Lock()
	now, _ := f.now()
	f.workspace.mu.Unlock()
	return f.workspace.NameOf(now)
}

// Waiting lists the open questions of the folder's loop, oldest first; none while the server shuts down, or of a
// folder that was closed.
func (f *Folder) Waiting() (all []permission.Waiting) {
	f.workspace.mu.Lock()
	defer f.workspace.mu.Unlock()
	if f.workspace.closed || f.workspace.folders[f.Path] != f {
		return nil
	}
	now, isThere := f.now()
	if !isThere || now.State.Over() {
		return nil
	}
	driven := f.driven()
	for _, q := range now.Questions {
		all = append(all, permission.Waiting{Question: wire.QuestionOf(q, now.LoopID, f.Path), Asker: f,
			Driven: func() (loop.Handle, error) { return driven, nil }})
	}
	return all
}
