package folders

import (
	"cmp"
	"reflect"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// review is the part of a folder's changes that is known without asking git: documents and the status show it.
type review struct {
	known answers.Review
	busy  bool // git is being asked
	again bool // and is to be asked again
	begun bool // it was asked once
}

// refresh asks git what the folder's last loop changed, aside, and tells the editor
// if that is news.
func (w *Workspace) refresh(f *Folder) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f.review.begun = true
	if f.review.busy || w.closed {
		f.review.again = true
		return
	}
	f.review.busy = true
	w.Work.Go(func() {
		for again := true; again; {
			w.mu.Lock()
			f.review.again = false
			w.mu.Unlock()
			now := w.reviewOf(f.Path)
			w.mu.Lock()
			news := !reflect.DeepEqual(now, f.review.known)
			again = f.review.again && w.Ctx.Err() == nil
			f.review.known, f.review.busy = now, again
			w.mu.Unlock()
			if news {
				w.Changed(f.Path)
			}
		}
	})
}

// reviewOf is what git knows; nothing where it knows nothing.
func (w *Workspace) reviewOf(path string) answers.Review {
	s, err := loop.SnapshotsIn(path, "")
	if err != nil {
		return answers.Review{}
	}
	all := changes.Range{To: changes.Latest}
	files, err := s.Diff.Files(w.Ctx, all, nil)
	iterations, iterationsErr := s.Diff.Iterations(w.Ctx, all, nil)
	canRedo, redoErr := s.Undoer.CanRedo(w.Ctx)
	if cmp.Or(err, iterationsErr, redoErr) != nil {
		return answers.Review{}
	}
	return answers.ReviewOf(wire.LoopParams{LoopID: s.LoopID(), Folder: wire.FileURI(path)}, files, iterations, canRedo)
}

// ReviewIn returns what is known of the changes of a folder's last loop.
func (w *Workspace) ReviewIn(path string) answers.Review {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f := w.folders[path]; f != nil {
		return f.review.known
	}
	return answers.Review{}
}

// RefreshAt is refresh of a folder that may be known.
func (w *Workspace) RefreshAt(path string) {
	w.mu.Lock()
	f := w.at(path, path)
	w.mu.Unlock()
	if f != nil {
		w.refresh(f)
	}
}
