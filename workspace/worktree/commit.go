package worktree

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// Commit commits what isn't committed in a tree on its branch, in the user's name, and says whether
// there was any. snapshot is a tree of git's that has all files as they are; with "" git looks at
// them. Paths that begin as one of skip are left out. Nothing is signed, as no user is there to
// unlock a key.
//
// Errors: *Refused, and what git or the system says.
func (t Tree) Commit(ctx context.Context, message, snapshot string, skip []string) (isMade bool, err error) {
	own, err := openCheckout(t.Path)
	if err != nil {
		return false, err
	}
	own.Settings = append(own.Settings, "user.useConfigOnly=true")
	if what := underWayIn(t.Path); what != "" {
		return false, refuse(ReasonUnderWay, what+" is under way in "+t.Path, "finish it")
	}
	branch := "refs/heads/" + t.Branch
	if !t.isOn(ctx, own, branch) {
		return false, refuse(ReasonStrayed, "the agent has left the loop's branch "+t.Branch, "switch back to it")
	}
	scratch := filepath.Join(t.Admin, "ralph-index") // goes with the tree, even after a kill
	defer os.Remove(scratch)
	var at index
	var isStaged bool
	var stageErr error
	var staging sync.WaitGroup
	staging.Go(func() { at, isStaged, stageErr = stageSnapshot(ctx, own, scratch, snapshot, skip) })
	heads, err := own.Text(ctx, nil, "rev-parse", "HEAD^{commit}", "HEAD^{tree}")
	head, was, _ := strings.Cut(heads, "\n")
	made := ""
	if err == nil && snapshot != "" && was != snapshot { // nobody knows of it yet
		made, err = commitTree(ctx, own, snapshot, message, head)
	}
	staging.Wait()
	if err = cmp.Or(err, stageErr); err != nil || was == snapshot {
		return false, err
	}
	if !isStaged {
		left, err := lookForLeftover(ctx, own, scratch, skip)
		if err != nil || left.tree == was {
			return false, err
		}
		if made, err = commitTree(ctx, own, left.tree, message, head); err != nil {
			return false, err
		}
	}
	if _, err := own.Run(ctx, nil, "update-ref", "-m", "commit: by ralph-lsp", branch, made, head); err != nil {
		return false, err
	}
	if isStaged && at.install() {
		return true, nil
	}
	if _, err := own.Run(ctx, nil, "reset", "--quiet"); err != nil {
		return true, fmt.Errorf("committed, but git's index is as it was: %w", err)
	}
	return true, nil
}

// commitTree makes a commit that no branch has.
func commitTree(ctx context.Context, g git.Git, tree, message, parent string) (string, error) {
	made, err := objects{Git: g}.commit(ctx, tree, message, parent)
	if err != nil {
		err = cmp.Or(knowsWho(ctx, g), err)
	}
	return made, err
}

// isOn says whether a branch is checked out. Where refs are files no git is needed.
func (t Tree) isOn(ctx context.Context, own git.Git, branch string) bool {
	if data, err := regular.Read(filepath.Join(t.Admin, "HEAD"), regular.Short); err == nil && string(data) == "ref: "+branch+"\n" {
		return true
	}
	at, err := own.Text(ctx, nil, "symbolic-ref", "--quiet", "HEAD")
	return err == nil && at == branch
}

// stageSnapshot takes into a copy of the index what a snapshot has otherwise. It isn't staged where
// the two differ by what no snapshot knows: a file that git ignores and somebody added, one that it
// was told to forget, a conflict, a submodule.
func stageSnapshot(ctx context.Context, g git.Git, scratch, snapshot string, skip []string) (at index, isStaged bool, err error) {
	if snapshot == "" {
		return at, false, nil
	}
	if at, err = copyIndex(g, scratch); err != nil || at.copied == nil {
		return at, false, err
	}
	words, err := at.List(ctx, "diff-index", "--cached", "-z", "--raw", "--no-renames", "--ignore-submodules=none", snapshot)
	var paths, unknown []string
	for ; len(words) > 1; words = words[2:] { // ":100644 000000 oid oid A", "path"
		path, isExtra := words[1], strings.HasSuffix(words[0], "A")
		isOdd := strings.HasSuffix(words[0], "U") || strings.Contains(words[0], "160000")
		isOwn := slices.ContainsFunc(skip, func(beginning string) bool { return strings.HasPrefix(path, beginning) })
		if isOdd || isOwn || isExtra && exists(filepath.Join(g.Dir, path)) {
			return at, false, nil
		}
		if paths = append(paths, path); strings.HasSuffix(words[0], "D") {
			unknown = append(unknown, path)
		}
	}
	if err == nil && len(unknown) > 0 { // the agent may have had git forget one, and ignore it
		asks := at.With("GIT_LITERAL_PATHSPECS=0") // it refuses them
		_, err = asks.Run(ctx, []byte(strings.Join(unknown, "\x00")+"\x00"), "check-ignore", "-z", "--stdin")
		if err == nil {
			return at, false, nil
		} else if git.ExitCode(err) == 1 {
			err = nil
		}
	}
	if err == nil {
		err = at.Stage(ctx, paths)
	}
	return at, err == nil, err
}
