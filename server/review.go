package server

import (
	"context"
	"errors"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/server/folders"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// reviewer shows what loops changed, takes it back and lands it, and asks the user of a client without a plugin before. git
// runs aside of the read loop, and without the workspace's lock.
type reviewer struct {
	*session.Session
	service.Commands
	workspace *folders.Workspace
}

// changes tells what changed in a loop's folder.
func (v *reviewer) changes(ctx context.Context, p wire.ChangesParams) (answers.ChangesResult, error) {
	result, document, err := v.Changes(ctx, p)
	if err == nil && p.Show {
		err = v.ShowFile(ctx, document)
	}
	return result, err
}

// redo takes the last undo back.
func (v *reviewer) redo(ctx context.Context, p answers.RedoParams) (answers.UndoResult, error) {
	result, work, err := v.Redo(ctx, p)
	if work.Folder != "" {
		v.workspace.RefreshAt(work.Folder)
	}
	return result, err
}

// undo takes back what iterations changed, unless an agent is at work.
func (v *reviewer) undo(ctx context.Context, p answers.UndoParams) (answers.UndoResult, error) {
	undo, work, err := v.Undo(ctx, p)
	if err != nil {
		return answers.UndoResult{}, err
	}
	defer v.workspace.RefreshAt(work.Folder)
	if p.DryRun || v.Editor.Client().OptedIn {
		return undo(p.DryRun)
	}
	would, err := undo(true)
	if atWork, ok := errors.AsType[*loop.AtWorkError](err); ok {
		return v.pauseFirst(ctx, work.Folder, atWork)
	}
	if err != nil || len(would.Undone)+len(would.Merged) == 0 {
		return would, err
	}
	asking := v.asking(ctx, work.Folder)
	chosen := v.User.Ask(asking, answers.QuestionBefore(p, would), session.AboutUndoing)
	agreed := chosen == session.ActionUndo || v.User.AsksItself() // a user who can't be asked can redo
	if !agreed || asking.Err() != nil {
		return answers.NothingUndone(), nil
	}
	return undo(false)
}

// pauseFirst asks whether to pause the loop that is in the way of an undo.
func (v *reviewer) pauseFirst(ctx context.Context, folder string, atWork *loop.AtWorkError) (result answers.UndoResult, err error) {
	asking := v.asking(ctx, folder)
	offer := wire.OffersAtWork(folder)[0]
	switch chosen := v.User.AskWith(asking, session.MessageInfo, wire.QuestionAtWork(atWork), session.ActionLeave, offer.Title); {
	case chosen == session.ActionLeave, asking.Err() != nil:
		return result, session.Declined(atWork)
	case chosen != offer.Title:
		return result, atWork
	}
	paused, err := v.Ask(ctx, offer.Arguments[0].(wire.LoopParams), service.Pause{})
	result = answers.NothingUndone()
	result.Text = paused.Text + "; undo when it has ended"
	return result, err
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

// land brings what a loop did in its worktree to the user's branch, or discards it.
func (v *reviewer) land(ctx context.Context, p wire.LandParams) (answers.LandResult, error) {
	var confirm func(string) bool
	if !v.Editor.Client().OptedIn {
		confirm = func(question string) bool {
			return v.User.Ask(ctx, question, session.AboutDiscarding) == wire.TitleDiscardTree && ctx.Err() == nil
		}
	}
	said, folder, err := v.Land(ctx, p, confirm)
	if folder != "" {
		v.Session.Changed(folder)
		v.workspace.LookSoon()
	}
	return said, err
}
