package reviews

import (
	"context"
	"errors"

	"github.com/ralph-lsp/ralph-lsp/changes"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/server/refusal"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// Undo takes back what iterations changed, unless an agent is at work.
func (v *Reviewer) Undo(ctx context.Context, p answers.UndoParams) (any, error) {
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
	if p.DryRun || v.Editor.Client().OptedIn {
		return v.takeBack(ctx, s, folder, p)
	}
	return v.undoWithQuestion(ctx, s, folder, p)
}

// takeBack takes back, or says what would be. Nobody changes files that an agent
// has under its hands, and what it has done until now is nobody else's.
func (v *Reviewer) takeBack(ctx context.Context, s *changes.Store, folder string, p answers.UndoParams) (answers.UndoResult, error) {
	paths, err := answers.PathsFrom(p.Paths)
	if err != nil {
		return answers.UndoResult{}, err
	}
	u := changes.Undo{Iteration: p.Iteration, Since: p.Since, Paths: paths, DryRun: p.DryRun, Merge: p.Merge}
	defer v.workspace.RefreshAt(folder)
	done, err := s.Undoer.Undo(context.WithoutCancel(ctx), u) // half of one is worse than a late one
	if err != nil {
		return answers.UndoResult{}, err
	}
	return answers.UndoneBy(p, done), nil
}

// undoWithQuestion asks a user without a plugin, with what a dry run says.
func (v *Reviewer) undoWithQuestion(ctx context.Context, s *changes.Store, folder string, p answers.UndoParams) (any, error) {
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
	asking := v.asking(ctx, folder)
	chosen := v.User.Ask(asking, answers.QuestionBefore(p, would), session.AboutUndoing)
	agreed := chosen == session.ActionUndo || v.User.AsksItself() // who can't be asked can redo
	if !agreed || asking.Err() != nil {
		return answers.NothingUndone(), nil
	}
	return v.takeBack(ctx, s, folder, p)
}

// pauseFirst asks whether to pause the loop that is in the way of an undo.
func (v *Reviewer) pauseFirst(ctx context.Context, folder string, atWork *loop.AtWorkError) (any, error) {
	asking := v.asking(ctx, folder)
	offer := wire.OffersAtWork(folder)[0]
	switch chosen := v.User.AskWith(asking, session.MessageInfo, wire.QuestionAtWork(atWork), session.ActionLeave, offer.Title); {
	case chosen == session.ActionLeave, asking.Err() != nil:
		return nil, session.Declined(atWork)
	case chosen != offer.Title:
		return nil, atWork
	}
	paused, err := v.pause(ctx, offer.Arguments[0].(wire.LoopParams))
	if err != nil {
		return nil, err
	}
	result := answers.NothingUndone()
	result.Text = paused.(wire.LoopResult).Text + "; undo when it has ended"
	return result, nil
}

// asking is the context of a question about an undo in a folder: it is moot when an iteration begins
// there, or another such question comes up.
func (v *Reviewer) asking(ctx context.Context, path string) context.Context {
	f := v.workspace.Known(path)
	if f == nil {
		return ctx
	}
	f.Undo.Withdraw()
	return f.Undo.Ask(ctx)
}
