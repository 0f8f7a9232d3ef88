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

// ChangesRequest chooses what is told of changes.
type ChangesRequest struct {
	Range changes.Range
	Paths []string // files and folders in the loop's folder; none: all

	Iterations bool // tell how much each iteration changed
	Places     bool // tell where each file changed
	Document   bool // write the patch into a file for an editor
}

// Changes is what changed, as far as it was asked for.
type Changes struct {
	Files      []changes.File
	Iterations []changes.Iteration
	Places     map[string][]changes.Place // by paths
	Document   string                     // the patch's path
}

// Changes tells what changed in the loop's folder, by any author.
func (w Work) Changes(ctx context.Context, q ChangesRequest) (found Changes, err error) {
	if err := checkRange(q.Range); err != nil {
		return found, err
	}
	if found.Files, err = w.store.Diff.Files(ctx, q.Range, q.Paths); err == nil && q.Iterations {
		found.Iterations, err = w.store.Diff.Iterations(ctx, q.Range, q.Paths)
	}
	if err == nil && q.Places {
		found.Places, err = w.store.Diff.Places(ctx, q.Range, q.Paths)
	}
	if err == nil && q.Document {
		head := answers.PatchHead(q.Range, answers.SumText(changes.Sum(found.Files)))
		found.Document, err = w.store.Diff.WritePatch(ctx, q.Range, q.Paths, head)
	}
	return found, err
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

// FileRequest names a file as it was after an iteration, or before one. With neither it is as the
// user has kept it last, else as it was before the loop.
type FileRequest struct {
	Path      string
	Iteration *int // 0: before the loop
	Before    *int
}

// File reads a file as a snapshot has it.
//
// Errors: changes.ErrNone, *changes.TooLargeError, and what git says.
func (w Work) File(ctx context.Context, q FileRequest) (content changes.Content, err error) {
	switch {
	case q.Iteration != nil && q.Before != nil:
		return content, wire.Invalid("before", "say iteration or before, not both")
	case q.Iteration != nil && *q.Iteration < 0:
		return content, wire.Invalid("iteration", "iteration is %d: 0 is before the loop", *q.Iteration)
	case q.Before != nil && *q.Before < 1:
		return content, wire.Invalid("before", "before is %d: iterations are counted from 1", *q.Before)
	case q.Before != nil:
		content, err = w.store.Diff.ContentBefore(ctx, *q.Before, q.Path)
	case q.Iteration != nil:
		content, err = w.store.Diff.Content(ctx, *q.Iteration, q.Path)
	default:
		content, err = w.store.Diff.Content(ctx, changes.Reviewed, q.Path)
	}
	if outside, ok := errors.AsType[*changes.OutsideError](err); ok {
		return content, wire.Invalid("path", "%w", outside)
	}
	return content, err
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

// KeepRequest chooses what the user has reviewed.
type KeepRequest struct {
	Paths     []string // none: all
	Iteration *int     // as the files were after it; nil: as they are now
	Again     bool     // it is to be reviewed again: the marks are taken away
	Text      *string  // of the one path: the file with what was reviewed, and without the rest
}

// Keep marks files as reviewed, or takes their marks away. It returns those whose marks changed;
// none, where a part of a file was reviewed.
func (w Work) Keep(ctx context.Context, q KeepRequest) (marked []string, err error) {
	n := changes.Latest
	if q.Iteration != nil {
		if n = *q.Iteration; n < 0 {
			return nil, wire.Invalid("iteration", "iteration is %d: 0 is before the loop", n)
		}
	}
	if q.Text == nil {
		return w.store.Review.Keep(ctx, n, q.Paths, !q.Again)
	}
	if len(q.Paths) != 1 || q.Iteration != nil || q.Again {
		return nil, wire.Invalid("text", "text needs one of paths, and no iteration")
	}
	all, err := w.store.Review.KeepText(ctx, q.Paths[0], []byte(*q.Text))
	if errors.Is(err, changes.ErrUnchanged) {
		return nil, wire.Invalid("paths", "%w", err)
	}
	if err != nil || !all {
		return nil, err
	}
	return q.Paths, nil
}
