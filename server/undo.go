package server

import (
	"context"
	"errors"

	"github.com/ralph-lsp/ralph-lsp/changes"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/server/refusal"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// undo takes back what iterations changed, unless an agent is at work.
func (v *reviewer) undo(ctx context.Context, p answers.UndoParams) (any, error) {
	switch {
	case p.Iteration < 0 || p.Iteration == 0 && p.Since == 0:
		return nil, refusal.Invalid("iteration", "say which iteration, or since which; they are counted from 1")
	case p.Since < 0 || p.Since > 0 && p.Iteration > 0:
		return nil, refusal.Invalid("since", "say an iteration from 1 on, or since which, not both")
	}
	if _, err := answers.PathsFrom(p.Paths); err != nil {
		return nil, refusal.Invalid("paths", "%v", err)
	}
	s, folder, err := v.snapshots(ctx, p.LoopParams)
	if err != nil {
		return nil, err
	}
	p.LoopParams = wire.LoopParams{LoopID: s.LoopID(), Folder: wire.FileURI(folder)} // what is offered is about no other one
	if p.DryRun || v.ed.Client().OptedIn {
		return v.takeBack(ctx, s, folder, p)
	}
	return v.undoWithQuestion(ctx, s, folder, p)
}

// takeBack takes back, or says what would be. Nobody changes files that an agent
// has under its hands, and what it has done until now is nobody else's.
func (v *reviewer) takeBack(ctx context.Context, s *changes.Store, folder string, p answers.UndoParams) (answers.UndoResult, error) {
	paths, err := answers.PathsFrom(p.Paths)
	if err != nil {
		return answers.UndoResult{}, err
	}
	u := changes.Undo{Iteration: p.Iteration, Since: p.Since, Paths: paths, DryRun: p.DryRun, Merge: p.Merge}
	defer v.workspace.refreshAt(folder)
	done, err := s.Undo(context.WithoutCancel(ctx), u) // half of one is worse than a late one
	if err != nil {
		return answers.UndoResult{}, err
	}
	return answers.UndoneBy(p, done), nil
}

// undoWithQuestion asks a user without a plugin, with what a dry run says.
func (v *reviewer) undoWithQuestion(ctx context.Context, s *changes.Store, folder string, p answers.UndoParams) (any, error) {
	trial := p
	trial.DryRun = true
	would, err := v.takeBack(ctx, s, folder, trial)
	if atWork, ok := errors.AsType[*loop.AtWorkError](err); ok {
		return v.pauseFirst(ctx, folder, atWork)
	}
	if err != nil {
		return nil, err
	}
	if len(would.Undone)+len(would.Merged) == 0 {
		return would, nil
	}
	asking, done := v.asking(ctx, folder)
	defer done()
	chosen := v.user.ask(asking, answers.QuestionBefore(p, would), aboutUndoing)
	agreed := chosen == actionUndo || v.user.asksItself() // who can't be asked can redo
	if !agreed || asking.Err() != nil {
		return answers.NothingUndone(), nil
	}
	return v.takeBack(ctx, s, folder, p)
}

// pauseFirst asks whether to pause the loop that is in the way of an undo.
func (v *reviewer) pauseFirst(ctx context.Context, folder string, atWork *loop.AtWorkError) (any, error) {
	asking, done := v.asking(ctx, folder)
	defer done()
	offer := wire.OffersAtWork(folder)[0]
	switch chosen := v.user.askWith(asking, messageInfo, wire.QuestionAtWork(atWork), actionLeave, offer.Title); {
	case chosen == actionLeave, asking.Err() != nil:
		return nil, &declinedError{atWork}
	case chosen != offer.Title:
		return nil, atWork
	}
	paused, err := v.questions.controls.pause(ctx, offer.Arguments[0].(wire.LoopParams))
	if err != nil {
		return nil, err
	}
	result := answers.NothingUndone()
	result.Text = paused.(wire.LoopResult).Text + "; undo when it has ended"
	return result, nil
}

// asking is the context of a question about an undo in a folder: it is moot when
// an iteration begins there, or another such question comes up.
func (v *reviewer) asking(ctx context.Context, path string) (asking context.Context, done func()) {
	asking, cancel := context.WithCancel(ctx)
	v.workspace.mu.Lock()
	defer v.workspace.mu.Unlock()
	if f := v.workspace.folders[path]; f != nil {
		f.withdrawUndo()
		f.undoing = cancel
	}
	return asking, cancel
}

// withdrawUndo takes back what the user is asked about an undo. The caller holds
// the workspace's mu.
func (f *folder) withdrawUndo() {
	if f.undoing != nil {
		f.undoing()
		f.undoing = nil
	}
}
