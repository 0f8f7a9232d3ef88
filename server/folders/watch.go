package folders

import (
	"context"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// ownerPoll is how often a loop that we are no window of is looked at:
// that its owner died, or that it has a new one, changes no file.
const ownerPoll = 2 * time.Second

// watch looks at a folder's state file whenever it changes, until ctx ends.
func (f *Folder) watch(ctx context.Context) {
	f.Look()
	close(f.looked)
	file, err := loopstate.Open(f.Path)
	if err != nil {
		return
	}
	changes, err := file.Watch(ctx)
	if err != nil {
		f.workspace.Log.Warn("the state file can't be watched", "folder", f.Path, "error", err)
		return
	}
	f.Look() // again: events before the watching began are not told
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
		case <-f.noted: // by another look than this watch's, such as the one behind a loop's end
			continue
		}
		f.Look()
	}
}

// LookAt looks at a folder again, if it is known: that another process took up its loop,
// or has died, changes no file.
func (w *Workspace) LookAt(path string) {
	if f := w.Known(path); f != nil {
		f.Look()
	}
}

// Look asks the folder's state file whether there is a loop that we don't drive.
func (f *Folder) Look() {
	if f.isOurs() {
		return
	}
	w := f.workspace
	var before, now *loop.Status
	var refresh, isNew bool
	f.look(func(found *loop.Status) {
		before, now, refresh = f.see(found)
		isNew = f.meets(now)
	})
	if isNew {
		w.Work.Go(func() { w.Meet(f.found(now)) })
	}
	w.permissions.Look(f)
	if before != nil && now == nil { // it was discarded
		w.Problems.Clear(f.Path)
	}
	if refresh {
		w.refresh(f)
	}
	if !sameLoop(before, now) {
		w.Changed(f.Path)
	}
	if now != nil && now.State.Over() {
		w.Left(f, now)
	}
}
