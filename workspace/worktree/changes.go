package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
)

// changesMessage is the message of the commit of uncommitted files.
const changesMessage = "Work in progress, as the loop found it"

// hidden are the paths from the top that agents may not read.
func (r repo) hidden(o Options) (names []string) {
	for _, name := range o.Hidden {
		if path, err := filepath.Rel(r.top, filepath.Join(paths.Real(o.Folder), filepath.FromSlash(name))); err == nil && filepath.IsLocal(path) {
			names = append(names, filepath.ToSlash(path))
		}
	}
	return names
}

// commitChanges makes a commit of the files as they are, with an index of its own: the
// user's, and the files, stay as they are. It is head itself when nothing differs.
func (r repo) commitChanges(ctx context.Context, g git.Git, index, head string, hidden []string) (commit string,
	notes []string, err error) {
	fail := func(err error) (string, []string, error) {
		return "", nil, &Error{"what isn't committed can't be taken along: " + err.Error(), "commit it, or leave --with-changes out"}
	}
	own, err := copyIndex(g, index)
	if err != nil {
		return fail(err)
	}
	defer os.Remove(index)
	g = own.Git
	if out, err := g.Run(ctx, nil, "ls-files", "-z", "--unmerged"); err != nil || len(out) > 0 {
		return fail(errors.Join(err, errors.New("a merge has conflicts")))
	}
	others := []string{"--", ":/"}
	if len(hidden) > 0 {
		known, err := g.Run(ctx, nil, append([]string{"ls-files", "-z", "--"}, hidden...)...)
		if err == nil {
			_, err = g.Run(ctx, known, "update-index", "-z", "--assume-unchanged", "--stdin")
		}
		if err != nil {
			return fail(err)
		}
		for _, path := range hidden {
			others = append(others, ":(exclude,literal)"+path)
		}
	}
	within, err := g.StageAll(ctx, nil, others...)
	if err != nil {
		return fail(err)
	}
	for _, name := range within {
		notes = append(notes, name+" is a repository of its own, and isn't in the worktree")
	}
	tree, err := g.Text(ctx, nil, "write-tree")
	if err != nil {
		return fail(err)
	}
	if was, err := g.Text(ctx, nil, "rev-parse", head+"^{tree}"); err != nil || was == tree {
		return head, notes, err
	}
	if commit, err = g.Text(ctx, []byte(changesMessage+"\n"), "commit-tree", "-p", head, tree); err != nil {
		return fail(fmt.Errorf("%w (git config user.name and user.email say who you are)", err))
	}
	return commit, notes, nil
}
