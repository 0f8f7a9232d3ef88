package server

import (
	"context"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// ownerPoll is how often a loop of another process, or nobody's, is looked at:
// that its owner died, or that it has a new one, changes no file.
const ownerPoll = 2 * time.Second

// lookout sees what happens in the folders without us.
type lookout struct {
	*env
	workspace   *workspace
	questions   *questions
	permissions *permissions
}

// watch looks at a folder's state file whenever it changes, until ctx ends.
func (o *lookout) watch(ctx context.Context, f *folder) {
	o.look(f)
	close(f.looked)
	file, err := loopstate.Open(f.path)
	if err != nil {
		return
	}
	changes, err := file.Watch(ctx)
	if err != nil {
		o.log.Warn("the state file can't be watched", "folder", f.path, "error", err)
		return
	}
	o.look(f) // again: what came before the watching began is not told
	for {
		var poll <-chan time.Time
		if f.seesLoop() {
			poll = time.After(ownerPoll)
		}
		select {
		case _, open := <-changes:
			if !open {
				return
			}
		case <-poll:
		}
		o.look(f)
	}
}

// lookAt looks at a folder again, if it is known: that another process took up its loop,
// or has died, changes no file.
func (o *lookout) lookAt(path string) {
	if f := o.workspace.known(path); f != nil {
		o.look(f)
	}
}

// look asks the folder's state file whether there is a loop that we don't drive.
func (o *lookout) look(f *folder) {
	if f.isOurs() {
		return
	}
	before, now, refresh := f.see(seenIn(f.path))
	f.changed()
	o.permissions.look(f)
	if before != nil && now == nil { // it was discarded
		o.problems.Clear(f.path)
	}
	if refresh {
		o.workspace.refresh(f)
	}
	if !sameLoop(before, now) {
		o.changed(f.path)
	}
	if now != nil && now.status.State.Over() {
		o.questions.offerToContinue(f, now)
	}
}
