package server

import (
	"context"
	"time"

	"ralph-lsp/loop"
	"ralph-lsp/loopstate"
)

// ownerPoll is how often a loop of another process, or nobody's, is looked at:
// that its owner died, or that it has a new one, changes no file.
const ownerPoll = 2 * time.Second

// watch looks at a folder's state file whenever it changes, until ctx ends.
func (m *manager) watch(ctx context.Context, f *folder) {
	m.look(f)
	close(f.looked)
	file, err := loopstate.Open(f.path)
	if err != nil {
		return
	}
	changes, err := file.Watch(ctx)
	if err != nil {
		m.log.Warn("the state file can't be watched", "folder", f.path, "error", err)
		return
	}
	m.look(f) // again: what came before the watching began is not told
	for {
		var poll <-chan time.Time
		if m.seesLoop(f) {
			poll = time.After(ownerPoll)
		}
		select {
		case _, open := <-changes:
			if !open {
				return
			}
		case <-poll:
		}
		m.look(f)
	}
}

// seesLoop says whether the folder has a loop that we don't drive.
func (m *manager) seesLoop(f *folder) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return f.seen != nil
}

// hasOurs says whether a loop of ours runs in the folder, or begins: it has a state file
// and an owner before anybody knows that they are ours. The caller holds the manager's mu.
func (f *folder) hasOurs() bool { return f.running != nil || f.starting > 0 }

// look asks the folder's state file whether there is a loop that we don't drive.
func (m *manager) look(f *folder) {
	m.mu.Lock()
	ours := f.hasOurs()
	m.mu.Unlock()
	if ours {
		return
	}
	now := seenIn(f.path)
	m.mu.Lock()
	before := f.seen
	if !f.hasOurs() { // else it was started meanwhile
		f.seen = now
	}
	now = f.seen
	if f.question != nil && f.question.situation != now.situation() {
		f.withdraw()
	}
	if now != nil && !now.status.State.Left() {
		delete(m.asked, askedOf{f.path, now.status.LoopID}) // when it stops again, that is news
	}
	m.mu.Unlock()
	f.changed()
	if !sameLoop(before, now) {
		m.changed(f.path)
	}
	if now != nil && now.status.State.Left() {
		m.offerToContinue(f, now)
	}
}

// lookAt looks at a folder again, if it is known: that another process took up its loop,
// or has died, changes no file.
func (m *manager) lookAt(path string) {
	m.mu.Lock()
	f := m.folders[path]
	m.mu.Unlock()
	if f != nil {
		m.look(f)
	}
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

// sameLoop says whether two looks saw the same.
func sameLoop(a, b *seenLoop) bool {
	if a == nil || b == nil {
		return a == b
	}
	x, y := a.status, b.status
	return x.LoopID == y.LoopID && x.State == y.State && x.Iteration == y.Iteration && x.Cost == y.Cost && a.owner.PID == b.owner.PID
}
