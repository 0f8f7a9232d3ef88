package server

import (
	"context"
	"errors"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// undo takes back what iterations changed, unless an agent is at work.
func (v *reviewer) undo(ctx context.Context, p answers.UndoParams) (any, error) {
	u, err := service.UndoOf(p) // before a loop is looked for
	if err != nil {
		return nil, err
	}
	work, err := v.work(ctx, p.LoopParams)
	if err != nil {
		return nil, err
	}
	p.LoopParams = wire.LoopParams{LoopID: work.LoopID, Folder: wire.FileURI(work.Folder)} // the offers are about this one
	takeBack := func(p answers.UndoParams) (answers.UndoResult, error) {
		defer v.workspace.RefreshAt(work.Folder)
		u.DryRun = p.DryRun
		done, err := work.Undo(ctx, u)
		return answers.UndoneBy(p, done), err
	}
	if p.DryRun || v.Editor.Client().OptedIn {
		return takeBack(p)
	}
	return v.undoWithQuestion(ctx, work.Folder, p, takeBack)
}

// undoWithQuestion asks a user without a plugin, with what a dry run says.
func (v *reviewer) undoWithQuestion(ctx context.Context, folder string, p answers.UndoParams,
	takeBack func(answers.UndoParams) (answers.UndoResult, error)) (any, error) {
	trial := p
	trial.DryRun = true
	would, err := takeBack(trial)
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
	agreed := chosen == session.ActionUndo || v.User.AsksItself() // a user who can't be asked can redo
	if !agreed || asking.Err() != nil {
		return answers.NothingUndone(), nil
	}
	return takeBack(p)
}

// pauseFirst asks whether to pause the loop that is in the way of an undo.
func (v *reviewer) pauseFirst(ctx context.Context, folder string, atWork *loop.AtWorkError) (any, error) {
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
func (v *reviewer) asking(ctx context.Context, path string) context.Context {
	f := v.workspace.Known(path)
	if f == nil {
		return ctx
	}
	f.Undo.Withdraw()
	return f.Undo.Ask(ctx)
}
