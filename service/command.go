package service

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// Cancel ends the loop with an id in a folder, "" for whichever is there, and returns when nothing of it is left. A loop
// that nobody drives is discarded.
//
// Errors: loop.ErrNotRunning where there is none, and those of loop.CancelFolder.
func (s *Service) Cancel(ctx context.Context, folder, loopID string) (wire.LoopResult, error) {
	iteration, err := loop.CancelFolder(ctx, folder, loopID)
	if err != nil {
		return wire.LoopResult{Iteration: iteration}, err
	}
	return wire.LoopResult{LoopID: loopID, State: string(loop.StateEnded), Iteration: iteration, Text: CancelledText(folder)}, nil
}

// CancelledText says that the loop of a folder is cancelled.
func CancelledText(folder string) string {
	return "the loop in " + wire.OneLine(filepath.Base(folder)) + " is cancelled"
}

// NoLoop is what there is where no loop is.
var NoLoop = wire.LoopResult{State: wire.StateIdle, Text: wire.NothingRuns}

// Run carries out a command of docs/PROTOCOL.md with its argument, about the loop of a folder, and says what came of it.
func (w *Window) Run(ctx context.Context, c wire.Command) (wire.Said, error) {
	result, err := w.run(ctx, c)
	return answers.AnswerOf(result), asTold(err)
}

func (w *Window) run(ctx context.Context, c wire.Command) (any, error) {
	if err := caller.Check(c.Command); err != nil {
		return nil, err
	}
	switch p := c.Arguments[0].(type) {
	case wire.CancelParams:
		return w.cancel(ctx, p)
	case wire.ChangeParams:
		patch, err := w.changeOf(p)
		if err != nil {
			return nil, err
		}
		return w.ask(p.LoopParams, Update{Patch: patch, Disallow: p.Disallow})
	case wire.ResumeParams:
		folder, err := pathOf(p.Folder)
		if err != nil {
			return nil, err
		}
		done, err := w.goOn(folder, p)
		return done.LoopResult, err
	case wire.SteerParams:
		said, err := SteeringOf(p)
		if err != nil {
			return nil, err
		}
		return w.ask(p.LoopParams, Steer{said})
	case wire.ChangesParams:
		return w.Changes(ctx, p)
	case answers.UndoParams:
		return w.undo(ctx, p)
	case answers.RedoParams:
		work, err := w.workOf(ctx, p.LoopParams)
		if err != nil {
			return nil, err
		}
		return work.RedoAs(ctx, p)
	case wire.LandParams:
		return w.land(ctx, p)
	case wire.LoopParams:
		return w.plain(c.Command, p)
	}
	return nil, fmt.Errorf("nothing offers %s", c.Command)
}

// plain are the commands that say nothing but which loop they are about.
func (w *Window) plain(command string, p wire.LoopParams) (any, error) {
	switch command {
	case wire.CommandHelp:
		return Help(), nil
	case wire.CommandPause:
		return w.ask(p, Pause{})
	case wire.CommandNext:
		return w.ask(p, Next{})
	case wire.CommandDetach:
		return w.ask(p, Detach{})
	case wire.CommandStatus:
		folder, err := pathOf(p.Folder)
		if err != nil {
			return nil, err
		}
		loops, err := w.Known(folder, 0)
		return wire.StatusesOf(loops), err
	}
	return nil, fmt.Errorf("nothing offers %s", command)
}

// ask asks a loop for something.
func (w *Window) ask(p wire.LoopParams, c Command) (any, error) {
	folder, err := pathOf(p.Folder)
	if err != nil {
		return nil, err
	}
	done, err := w.service().Do(loop.Other{Folder: folder, LoopID: p.LoopID}, c)
	return done.LoopResult, err
}

func (w *Window) cancel(ctx context.Context, p wire.CancelParams) (any, error) {
	if p.When == wire.WhenInterrupt {
		return w.ask(p.LoopParams, Interrupt{})
	}
	folder, err := pathOf(p.Folder)
	if err != nil {
		return nil, err
	}
	result, err := w.service().Cancel(ctx, folder, p.LoopID)
	if errors.Is(err, loop.ErrNotRunning) {
		return NoLoop, nil
	}
	return result, err
}

func (w *Window) changeOf(p wire.ChangeParams) (loop.Patch, error) {
	folder, err := pathOf(p.Folder)
	if err != nil {
		return loop.Patch{}, err
	}
	return w.service().Change(folder, p.Given, p.Text)
}

// SteeringOf is what a loop's agents are to be told.
func SteeringOf(p wire.SteerParams) (loop.Steering, error) {
	said, err := loop.ParseSteering(p.Text)
	if err != nil {
		return said, wire.Invalid("text", "text: %v", err)
	}
	said.Next, said.Once = said.Next || p.Next, said.Once || p.Once
	return said, nil
}

// workOf finds what the loop changed that parameters name.
func (w *Window) workOf(ctx context.Context, p wire.LoopParams) (Work, error) {
	folder, err := pathOf(p.Folder)
	if err != nil {
		return Work{}, err
	}
	folders := []string{folder}
	if e, ok := registry.Find(p.LoopID); ok && e.Folder != folder { // it is in a worktree
		folders = append(folders, e.Folder)
	}
	return w.service().Work(ctx, Which{LoopID: p.LoopID, Folders: folders})
}

// Changes tells what a loop changed.
func (w *Window) Changes(ctx context.Context, p wire.ChangesParams) (answers.ChangesResult, error) {
	work, err := w.workOf(ctx, p.LoopParams)
	if err != nil {
		return answers.ChangesResult{}, asTold(err)
	}
	result, _, err := work.ChangesAs(ctx, p)
	return result, asTold(err)
}

// File reads a file as a snapshot of a loop's has it.
func (w *Window) File(ctx context.Context, p answers.FileParams) (answers.FileResult, error) {
	work, err := w.workOf(ctx, p.LoopParams)
	if err != nil {
		return answers.FileResult{}, asTold(err)
	}
	content, err := work.FileAs(ctx, p)
	return content, asTold(err)
}

func (w *Window) undo(ctx context.Context, p answers.UndoParams) (any, error) {
	u, err := UndoOf(p)
	if err != nil {
		return nil, err
	}
	work, err := w.workOf(ctx, p.LoopParams)
	if err != nil {
		return nil, err
	}
	done, err := work.Undo(ctx, u)
	return answers.UndoneBy(p, done), err
}

// UndoOf is what is to be taken back.
func UndoOf(p answers.UndoParams) (changes.Undo, error) {
	paths, err := pathsFrom(p.Paths)
	u := changes.Undo{Iteration: p.Iteration, Since: p.Since, Paths: paths, Merge: p.Merge, DryRun: p.DryRun}
	if err == nil {
		err = CheckUndo(u)
	}
	return u, err
}

func pathsFrom(texts []string) ([]string, error) {
	paths, err := answers.PathsFrom(texts)
	if err != nil {
		return nil, wire.Invalid("paths", "%v", err)
	}
	return paths, nil
}

// ChangesAs is Changes as a client's parameters choose it, which is told of each iteration. The document is the path
// of a patch, where one is to be shown.
func (w Work) ChangesAs(ctx context.Context, p wire.ChangesParams) (result answers.ChangesResult, document string, err error) {
	paths, err := pathsFrom(p.Paths)
	if err != nil {
		return result, "", err
	}
	found, err := w.Changes(ctx, ChangesRequest{Range: p.Range(), Paths: paths, Iterations: true, Places: p.Places, Document: p.Show})
	if err != nil {
		return result, "", err
	}
	result = answers.ChangesOf(p, w.Folder, found.Files, found.Iterations)
	if result.LoopID = w.LoopID; p.Places {
		result.AddPlaces(found.Places)
	}
	return result, found.Document, nil
}

// FileAs is File as a client's parameters name it.
func (w Work) FileAs(ctx context.Context, p answers.FileParams) (result answers.FileResult, err error) {
	path, err := answers.PathFrom(p.Path)
	if err != nil {
		return result, wire.Invalid("path", "%v", err)
	}
	content, err := w.File(ctx, FileRequest{Path: path, Iteration: p.Iteration, Before: p.Before})
	if err != nil {
		return result, err
	}
	return answers.FileOf(content), nil
}

// RedoAs is Redo, with what there is to say of it.
func (w Work) RedoAs(ctx context.Context, p answers.RedoParams) (result answers.UndoResult, err error) {
	done, err := w.Redo(ctx, p.DryRun)
	verb := "redone"
	if p.DryRun {
		verb = "would be redone"
	}
	result = answers.UndoneOf(done, verb)
	if errors.Is(err, changes.ErrNothingToRedo) {
		result.Text, err = err.Error(), nil
	}
	return result, err
}

func (w *Window) land(ctx context.Context, p wire.LandParams) (any, error) {
	folder, err := pathOf(p.Folder)
	if err != nil {
		return nil, err
	}
	tree, p, err := w.service().LandingOf(p, []string{folder})
	if err != nil {
		return nil, err
	}
	var said answers.LandResult
	if p.Discard {
		said, err = w.service().Discard(ctx, tree, p)
	} else {
		said, _, err = w.service().Land(ctx, tree, p)
	}
	if refused, ok := errors.AsType[*worktree.Refused](err); ok {
		return answers.LandRefused(p, refused), nil
	}
	return said, err
}

// LandingOf is the worktree that a landing is about, in folders, and what is asked for: of no other loop.
func (s *Service) LandingOf(p wire.LandParams, folders []string) (worktree.Tree, wire.LandParams, error) {
	if err := p.Typed(); err != nil {
		return worktree.Tree{}, p, wire.Invalid("text", "%v", err)
	}
	tree, err := s.Tree(Which{LoopID: p.LoopID, Folders: folders})
	p.LoopParams = wire.LoopParams{LoopID: p.LoopID, Folder: wire.FileURI(tree.Folder)}
	return tree, p, err
}
