package service

import (
	"context"
	"errors"
	"fmt"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// ErrNotKept says why nothing is kept of what loops of a folder change. It is a changes.ErrNone.
var ErrNotKept = fmt.Errorf(`%w: changes.keep is "0"`, changes.ErrNone)

// Work is what a loop changed in its folder.
type Work struct {
	LoopID string
	Folder string // that the paths of files begin in
	store  *changes.Store
}

// Work finds what a loop changed.
//
// Errors: ErrNotKept, changes.ErrNone, changes.ErrNoGit, and what the system says.
func (s *Service) Work(ctx context.Context, w Which) (Work, error) {
	if w.Remote != "" {
		store, folder, err := s.Remote.Snapshots(ctx, w.Remote)
		return workIn(folder, store, err)
	}
	var err error = changes.ErrNone
	for _, folder := range w.Folders {
		var store *changes.Store
		if store, err = loop.SnapshotsIn(folder, w.LoopID); !errors.Is(err, changes.ErrNone) {
			return workIn(folder, store, err)
		}
	}
	if len(w.Folders) == 1 {
		if settings, bad := s.Files(w.Folders[0]).Load(); bad == nil && settings.Changes.Keep == 0 {
			err = ErrNotKept
		}
	}
	return Work{}, err
}

func workIn(folder string, store *changes.Store, err error) (Work, error) {
	if err != nil {
		return Work{}, err
	}
	return Work{store.LoopID(), folder, store}, nil
}

// Files are those that changed in the loop's folder, by any author. Paths are files and folders in that; none: all.
func (w Work) Files(ctx context.Context, r changes.Range, paths []string) ([]changes.File, error) {
	if err := checkRange(r); err != nil {
		return nil, err
	}
	return w.store.Diff.Files(ctx, r, paths)
}

// Changes tells what changed, as a client asks for it. The document is the path of a patch, where one is to be shown.
func (w Work) Changes(ctx context.Context, p wire.ChangesParams) (result answers.ChangesResult, document string, err error) {
	paths, err := pathsFrom(p.Paths)
	if err != nil {
		return result, "", err
	}
	r := p.Range()
	files, err := w.Files(ctx, r, paths)
	var iterations []changes.Iteration
	var places map[string][]changes.Place
	if err == nil {
		iterations, err = w.store.Diff.Iterations(ctx, r, paths)
	}
	if err == nil && p.Places {
		places, err = w.store.Diff.Places(ctx, r, paths)
	}
	if err == nil && p.Show {
		document, err = w.store.Diff.WritePatch(ctx, r, paths, answers.PatchHead(r, answers.SumText(changes.Sum(files))))
	}
	if err != nil {
		return result, "", err
	}
	result = answers.ChangesOf(p, w.Folder, files, iterations)
	if result.LoopID = w.LoopID; p.Places {
		result.AddPlaces(places)
	}
	return result, document, nil
}

// Patch is what changed, for git apply.
func (w Work) Patch(ctx context.Context, r changes.Range, paths []string) ([]byte, error) {
	if err := checkRange(r); err != nil {
		return nil, err
	}
	return w.store.Diff.Patch(ctx, r, paths)
}

func checkRange(r changes.Range) error {
	switch {
	case r.From < 0:
		return wire.Invalid("from", "from is %d: 0 is before the loop, as iterations are counted from 1", r.From)
	case r.To != changes.Latest && r.To < r.From:
		return wire.Invalid("to", "to is %d, before from (%d)", r.To, r.From)
	}
	return nil
}

// File reads a file as a snapshot has it.
//
// Errors: changes.ErrNone, *changes.TooLargeError, and what git says.
func (w Work) File(ctx context.Context, p answers.FileParams) (result answers.FileResult, err error) {
	path, err := answers.PathFrom(p.Path)
	if err != nil {
		return result, wire.Invalid("path", "%v", err)
	}
	var content changes.Content
	switch {
	case p.Iteration != nil && p.Before != nil:
		return result, wire.Invalid("before", "say iteration or before, not both")
	case p.Iteration != nil && *p.Iteration < 0:
		return result, wire.Invalid("iteration", "iteration is %d: 0 is before the loop", *p.Iteration)
	case p.Before != nil && *p.Before < 1:
		return result, wire.Invalid("before", "before is %d: iterations are counted from 1", *p.Before)
	case p.Before != nil:
		content, err = w.store.Diff.ContentBefore(ctx, *p.Before, path)
	case p.Iteration != nil:
		content, err = w.store.Diff.Content(ctx, *p.Iteration, path)
	default:
		content, err = w.store.Diff.Content(ctx, changes.Reviewed, path)
	}
	if outside, ok := errors.AsType[*changes.OutsideError](err); ok {
		err = wire.Invalid("path", "%w", outside)
	}
	return answers.FileOf(content), err
}

// Undo takes back what iterations changed, or only says what it would take back. It isn't cut off
// halfway: the end of ctx doesn't count.
//
// Errors: *loop.AtWorkError while an agent has the files under its hands, and what git says.
func (w Work) Undo(ctx context.Context, u changes.Undo) (changes.Undone, error) {
	if err := CheckUndo(u); err != nil {
		return changes.Undone{}, err
	}
	return w.store.Undoer.Undo(context.WithoutCancel(ctx), u)
}

// CheckUndo says what is wrong with the iterations of an undo, whichever loop it is of.
func CheckUndo(u changes.Undo) error {
	switch {
	case u.Iteration < 0 || u.Iteration == 0 && u.Since == 0:
		return wire.Invalid("iteration", "say which iteration, or since which; they are counted from 1")
	case u.Since < 0 || u.Since > 0 && u.Iteration > 0:
		return wire.Invalid("since", "say an iteration from 1 on, or since which, not both")
	}
	return nil
}

// Redo undoes the last undo. The end of ctx doesn't count. Its errors are changes.ErrNothingToRedo, and those of
// Undo.
func (w Work) Redo(ctx context.Context, dryRun bool) (changes.Undone, error) {
	return w.store.Undoer.Redo(context.WithoutCancel(ctx), dryRun)
}

// Keep marks files as reviewed, or takes their marks away.
func (w Work) Keep(ctx context.Context, p answers.KeepParams) (answers.KeepResult, error) {
	kept, n := p.Kept == nil || *p.Kept, changes.Latest
	paths, err := pathsFrom(p.Paths)
	if err != nil {
		return answers.KeepResult{}, err
	}
	if p.Iteration != nil {
		if n = *p.Iteration; n < 0 {
			return answers.KeepResult{}, wire.Invalid("iteration", "iteration is %d: 0 is before the loop", n)
		}
	}
	if p.Text == nil {
		marked, err := w.store.Review.Keep(ctx, n, paths, kept)
		return answers.KeptOf(marked, kept), err
	}
	if len(paths) != 1 || p.Iteration != nil || !kept {
		return answers.KeepResult{}, wire.Invalid("text", "text needs one of paths, and no iteration")
	}
	all, err := w.store.Review.KeepText(ctx, paths[0], []byte(*p.Text))
	if errors.Is(err, changes.ErrUnchanged) {
		err = wire.Invalid("paths", "%w", err)
	}
	if all {
		return answers.KeptOf(paths, kept), err
	}
	result := answers.KeptOf(nil, kept)
	result.Text = "one change kept"
	return result, err
}

func pathsFrom(texts []string) ([]string, error) {
	paths, err := answers.PathsFrom(texts)
	if err != nil {
		return nil, wire.Invalid("paths", "%v", err)
	}
	return paths, nil
}
