// Package reviews shows what loops changed, keeps it, takes it back and lands it.
package reviews

import (
	"context"
	"errors"
	"fmt"

	"github.com/ralph-lsp/ralph-lsp/changes"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/server/folders"
	"github.com/ralph-lsp/ralph-lsp/server/refusal"
	"github.com/ralph-lsp/ralph-lsp/server/remote"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// Reviewer shows what loops changed, keeps it and takes it back. git runs aside
// of the read loop, and without the workspace's lock.
type Reviewer struct {
	*session.Session
	workspace *folders.Workspace
	remote    *remote.Loops
	pause     func(context.Context, wire.LoopParams) (any, error) // the loop that is in the way
}

// New reviews what loops of a workspace have done, and remote ones.
func New(e *session.Session, w *folders.Workspace, a *remote.Loops, pause func(context.Context, wire.LoopParams) (any, error)) *Reviewer {
	return &Reviewer{e, w, a, pause}
}

// snapshots finds those of a loop that runs here or elsewhere, or is over.
func (v *Reviewer) snapshots(ctx context.Context, p wire.LoopParams) (s *changes.Store, folder string, err error) {
	if id := v.remote.Find(p); id != "" {
		return v.remote.Fleet.Snapshots(ctx, id)
	}
	v.workspace.AwaitLooks(ctx)
	var folders []string
	if p.LoopID != "" && p.Folder == "" {
		folders = v.workspace.List()
	} else {
		folder, err := v.workspace.FolderPath(p.Folder)
		if err != nil {
			return nil, "", err
		}
		folders = []string{folder}
	}
	err = changes.ErrNone
	for _, folder := range folders {
		s, err = loop.SnapshotsIn(folder, p.LoopID)
		if err == nil || !errors.Is(err, changes.ErrNone) {
			return s, folder, err
		}
	}
	if len(folders) == 1 {
		folder = folders[0]
		if settings, bad := v.Files(folder).Load(); bad == nil && settings.Changes.Keep == 0 {
			err = fmt.Errorf(`%w: changes.keep is "0"`, err)
		}
	}
	return nil, folder, err
}

// Changes tells what changed in a loop's folder.
func (v *Reviewer) Changes(ctx context.Context, p wire.ChangesParams) (any, error) {
	switch {
	case p.From < 0:
		return nil, refusal.Invalid("from", "from is %d: 0 is before the loop", p.From)
	case p.To != nil && *p.To < p.From:
		return nil, refusal.Invalid("to", "to is %d, before from (%d)", *p.To, p.From)
	}
	paths, err := answers.PathsFrom(p.Paths)
	if err != nil {
		return nil, refusal.Invalid("paths", "%v", err)
	}
	s, folder, err := v.snapshots(ctx, p.LoopParams)
	if err != nil {
		return nil, err
	}
	files, err := s.Diff.Files(ctx, p.Range(), paths)
	if err != nil {
		return nil, err
	}
	iterations, err := s.Diff.Iterations(ctx, p.Range(), paths)
	if err != nil {
		return nil, err
	}
	result := answers.ChangesOf(p, folder, files, iterations)
	result.LoopID = s.LoopID()
	if p.Places {
		places, err := s.Diff.Places(ctx, p.Range(), paths)
		if err != nil {
			return nil, err
		}
		result.AddPlaces(places)
	}
	if p.Show {
		patch, err := s.Diff.WritePatch(ctx, p.Range(), paths, answers.PatchHead(p.Range(), result.Text))
		if err != nil {
			return nil, err
		}
		if err := v.ShowFile(ctx, patch); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// File reads a file as a snapshot has it.
func (v *Reviewer) File(ctx context.Context, p answers.FileParams) (any, error) {
	switch {
	case p.Iteration != nil && p.Before != nil:
		return nil, refusal.Invalid("before", "say iteration or before, not both")
	case p.Iteration != nil && *p.Iteration < 0:
		return nil, refusal.Invalid("iteration", "iteration is %d: 0 is before the loop", *p.Iteration)
	case p.Before != nil && *p.Before < 1:
		return nil, refusal.Invalid("before", "before is %d: iterations are counted from 1", *p.Before)
	}
	path, err := answers.PathFrom(p.Path)
	if err != nil {
		return nil, refusal.Invalid("path", "%v", err)
	}
	s, _, err := v.snapshots(ctx, p.LoopParams)
	if err != nil {
		return nil, err
	}
	var content changes.Content
	switch {
	case p.Before != nil:
		content, err = s.Diff.ContentBefore(ctx, *p.Before, path)
	case p.Iteration != nil:
		content, err = s.Diff.Content(ctx, *p.Iteration, path)
	default:
		content, err = s.Diff.Content(ctx, changes.Reviewed, path)
	}
	if outside, ok := errors.AsType[*changes.OutsideError](err); ok {
		return nil, refusal.Invalid("path", "%v", outside)
	}
	if err != nil {
		return nil, err
	}
	return answers.FileOf(content), nil
}

// Redo takes the last undo back.
func (v *Reviewer) Redo(ctx context.Context, p answers.RedoParams) (any, error) {
	s, folder, err := v.snapshots(ctx, p.LoopParams)
	if err != nil {
		return nil, err
	}
	defer v.workspace.RefreshAt(folder)
	done, err := s.Undoer.Redo(context.WithoutCancel(ctx), p.DryRun)
	if errors.Is(err, changes.ErrNothingToRedo) {
		result := answers.UndoneOf(done, "redone")
		result.Text = err.Error()
		return result, nil
	}
	if err != nil {
		return nil, err
	}
	verb := "redone"
	if p.DryRun {
		verb = "would be redone"
	}
	return answers.UndoneOf(done, verb), nil
}

// Keep marks files as reviewed, or takes their marks away.
func (v *Reviewer) Keep(ctx context.Context, p answers.KeepParams) (any, error) {
	n, kept := changes.Latest, p.Kept == nil || *p.Kept
	if p.Iteration != nil {
		if n = *p.Iteration; n < 0 {
			return nil, refusal.Invalid("iteration", "iteration is %d: 0 is before the loop", n)
		}
	}
	paths, err := answers.PathsFrom(p.Paths)
	if err != nil {
		return nil, refusal.Invalid("paths", "%v", err)
	}
	s, _, err := v.snapshots(ctx, p.LoopParams)
	if err != nil {
		return nil, err
	}
	if p.Text != nil {
		if len(paths) != 1 || p.Iteration != nil || !kept {
			return nil, refusal.Invalid("text", "text needs one of paths, and no iteration")
		}
		all, err := s.Review.KeepText(ctx, paths[0], []byte(*p.Text))
		if errors.Is(err, changes.ErrUnchanged) {
			return nil, refusal.Invalid("paths", "%v", err)
		} else if err != nil || !all {
			return answers.KeepResult{Kept: []string{}, Text: "one change kept"}, err
		}
		return answers.KeptOf(paths, true), nil
	}
	marked, err := s.Review.Keep(ctx, n, paths, kept)
	if err != nil {
		return nil, err
	}
	return answers.KeptOf(marked, kept), nil
}
