package reviews

import (
	"context"
	"errors"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/server/refusal"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
	"github.com/ralph-lsp/ralph-lsp/worktree"
)

// Land brings what a loop did in its worktree to the user's branch, or discards it.
func (v *Reviewer) Land(ctx context.Context, p wire.LandParams) (any, error) {
	if err := p.Typed(); err != nil {
		return nil, refusal.Invalid("text", "%v", err)
	}
	o, err := p.Options()
	if err != nil {
		return nil, refusal.Invalid("how", "%v", err)
	}
	tree, err := v.treeOf(ctx, p.LoopParams)
	if err != nil {
		return nil, err
	}
	p.LoopParams = wire.LoopParams{LoopID: p.LoopID, Folder: wire.FileURI(tree.Folder)} // what is offered is about no other one
	defer v.workspace.LookSoon()
	defer v.Changed(tree.Folder)
	if p.Discard {
		return v.discard(ctx, tree, p)
	}
	done, err := loop.Land(ctx, tree, o)
	if err != nil {
		return refusedLanding(p, err)
	}
	return answers.LandedOf(p, done), nil
}

// refusedLanding is the answer to a landing that changed nothing.
func refusedLanding(p wire.LandParams, err error) (any, error) {
	if refused, ok := errors.AsType[*worktree.Refused](err); ok {
		return answers.LandRefused(p, refused), nil
	}
	if errors.Is(err, worktree.ErrGone) {
		err = refusal.Failed(wire.ReasonNoWorktree, err, nil)
	}
	return nil, err
}

// discard removes a worktree. Before, the user is told what is lost.
func (v *Reviewer) discard(ctx context.Context, tree worktree.Tree, p wire.LandParams) (any, error) {
	if !p.Confirmed || p.DryRun {
		would, err := loop.Discard(ctx, tree, true)
		if err != nil {
			return refusedLanding(p, err)
		}
		question := answers.DiscardQuestion(p, would)
		if p.DryRun || v.Editor.Client().OptedIn {
			return question, nil
		}
		if v.User.Ask(ctx, question.Text, session.AboutDiscarding) != wire.TitleDiscardTree || ctx.Err() != nil {
			return answers.NothingDiscarded(), nil
		}
	}
	done, err := loop.Discard(ctx, tree, false)
	if err != nil {
		return refusedLanding(p, err)
	}
	return answers.DiscardedOf(done), nil
}

// treeOf finds the worktree of a loop in the folders that are open.
func (v *Reviewer) treeOf(ctx context.Context, p wire.LoopParams) (tree worktree.Tree, err error) {
	v.workspace.AwaitLooks(ctx)
	var folders []string
	if p.Folder == "" {
		folders = v.workspace.List()
	} else if path, err := wire.PathOf(p.Folder); err == nil {
		folders = []string{path}
	}
	err = errors.New("no folder is open; open the repository whose loop is to land")
	for _, folder := range folders {
		if tree, err = loop.FindTree(folder, p.LoopID); err == nil {
			return tree, nil
		}
	}
	return tree, refusal.Failed(wire.ReasonNoWorktree, err, nil)
}
