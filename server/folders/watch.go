package folders

import (
	"context"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/server/permission"
	"github.com/ralph-lsp/ralph-lsp/server/session"
)

// ownerPoll is how often a loop of another process, or nobody's, is looked at:
// that its owner died, or that it has a new one, changes no file.
const ownerPoll = 2 * time.Second

// lookout sees what happens in the folders without us.
type lookout struct {
	*session.Session
	workspace   *Workspace
	permissions *permission.Desk
	Left        func(*Folder, *Seen) // is told of a loop that nobody drives
}

// watch looks at a folder's state file whenever it changes, until ctx ends.
func (o *lookout) watch(ctx context.Context, f *Folder) {
	o.look(f)
	close(f.looked)
	file, err := loopstate.Open(f.Path)
	if err != nil {
		return
	}
	changes, err := file.Watch(ctx)
	if err != nil {
		o.Log.Warn("the state file can't be watched", "folder", f.Path, "error", err)
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

// Look looks at a folder again.
func (w *Workspace) Look(f *Folder) { w.Lookout.look(f) }

// LookAt looks at a folder again, if it is known: that another process took up its loop,
// or has died, changes no file.
func (w *Workspace) LookAt(path string) {
	if f := w.Known(path); f != nil {
		w.Look(f)
	}
}

// look asks the folder's state file whether there is a loop that we don't drive.
func (o *lookout) look(f *Folder) {
	if f.isOurs() {
		return
	}
	before, now, refresh := f.see(SeenIn(f.Path))
	f.Changed()
	o.permissions.Look(f)
	if before != nil && now == nil { // it was discarded
		o.Problems.Clear(f.Path)
	}
	if refresh {
		o.workspace.refresh(f)
	}
	if !sameLoop(before, now) {
		o.Changed(f.Path)
	}
	if now != nil && now.Status.State.Over() {
		o.Left(f, now)
	}
}
