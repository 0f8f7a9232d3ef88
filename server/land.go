package server

import (
	"context"
	"errors"

	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// land brings what a loop did in its worktree to the user's branch, or discards it.
func (v *reviewer) land(ctx context.Context, p wire.LandParams) (any, error) {
	v.workspace.AwaitLooks(ctx)
	open := v.workspace.List()
	if p.Folder != "" {
		path, err := wire.PathOf(p.Folder)
		if err != nil {
			return nil, wire.Failed(wire.ReasonNoWorktree, err)
		}
		open = []string{path}
	}
	tree, p, err := v.service.LandingOf(p, open)
	if err != nil {
		return nil, err
	}
	defer v.workspace.LookSoon()
	defer v.Changed(tree.Folder)
	var said answers.LandResult
	if p.Discard {
		said, err = v.discard(ctx, tree, p)
	} else {
		said, _, err = v.service.Land(ctx, tree, p)
	}
	if refused, ok := errors.AsType[*worktree.Refused](err); ok {
		return answers.LandRefused(p, refused), nil
	}
	if err != nil {
		return nil, err
	}
	return said, nil
}

// discard removes a worktree. Before, the user is told what is lost.
func (v *reviewer) discard(ctx context.Context, tree worktree.Tree, p wire.LandParams) (answers.LandResult, error) {
	said, err := v.service.Discard(ctx, tree, p)
	if err != nil || p.Confirmed || p.DryRun || v.Editor.Client().OptedIn {
		return said, err
	}
	if v.User.Ask(ctx, said.Text, session.AboutDiscarding) != wire.TitleDiscardTree || ctx.Err() != nil {
		return answers.NothingDiscarded(), nil
	}
	p.Confirmed = true
	return v.service.Discard(ctx, tree, p)
}
