package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Commit commits what isn't committed in a tree on its branch, in the user's name. It
// returns how many files that were: 0 when there was nothing to commit. Paths that begin
// as one of skip are nobody's work. Nothing is signed: nobody is there to unlock a key.
//
// Errors: *Refused, and what git or the system says.
func (t Tree) Commit(ctx context.Context, message string, skip []string) (files int, err error) {
	own, err := openCheckout(t.Path)
	if err != nil {
		return 0, err
	}
	if what, _, err := inTheMiddle(ctx, own); err != nil || what != "" {
		if err == nil {
			err = refuse(ReasonUnderWay, what+" is under way in "+t.Path, "finish it")
		}
		return 0, err
	}
	branch, err := own.line(ctx, "symbolic-ref", "--quiet", "HEAD")
	if err != nil || branch != "refs/heads/"+t.Branch {
		return 0, refuse(ReasonStrayed, "the agent has left the loop's branch "+t.Branch, "switch back to it")
	}
	scratch := filepath.Join(t.Admin, "ralph-index") // goes with the tree, even after a kill
	defer os.Remove(scratch)
	left, err := lookForLeftover(ctx, own, scratch, skip)
	if err != nil || len(left.paths) == 0 {
		return 0, err
	}
	if err := knowsWho(ctx, own); err != nil {
		return 0, err
	}
	head, err := own.line(ctx, "rev-parse", "--verify", "HEAD^{commit}")
	if err != nil {
		return 0, err
	}
	l := landing{}
	made, err := l.commitAs(ctx, own, left.tree, message, head)
	if err != nil {
		return 0, err
	}
	if _, err := own.run(ctx, "", "update-ref", "-m", "commit: by ralph-lsp", branch, made, head); err != nil {
		return 0, err
	}
	if _, err := own.run(ctx, "", "reset", "--quiet"); err != nil {
		return len(left.paths), fmt.Errorf("committed, but git's index is as it was: %w", err)
	}
	return len(left.paths), nil
}
