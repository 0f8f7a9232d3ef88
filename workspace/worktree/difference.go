package worktree

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
)

// Change is a file that differs between the user's branch and the loop's.
type Change struct {
	Path           string // from the top, with slashes, in whatever bytes it has
	Added, Removed int    // lines
	Binary         bool
}

// Changes lists what the loop did since its branch left the user's, with what isn't committed
// yet. Nothing is written but git's objects, and nothing is refused, as nothing lands.
func Changes(ctx context.Context, t Tree, skip []string) (found []Change, err error) {
	out, err := differ(ctx, t, skip, "-z", "--numstat", "--no-renames")
	for _, line := range git.Fields(out) { // "1\t2\tpath", of what is no text "-\t-\tpath"
		if counts := strings.SplitN(line, "\t", 3); len(counts) == 3 {
			c := Change{Path: counts[2], Binary: counts[0] == "-"}
			c.Added, _ = strconv.Atoi(counts[0])
			c.Removed, _ = strconv.Atoi(counts[1])
			found = append(found, c)
		}
	}
	return found, err
}

// Patch is the same as git apply takes it.
func Patch(ctx context.Context, t Tree, skip []string) ([]byte, error) {
	return differ(ctx, t, skip, "--patch", "--binary", "--full-index")
}

func differ(ctx context.Context, t Tree, skip []string, how ...string) ([]byte, error) {
	l, release, err := prepare(ctx, t, LandOptions{})
	if err != nil {
		return nil, err
	}
	defer release()
	now := l.at
	if exists(filepath.Join(t.Path, ".git")) {
		left, err := lookForLeftover(ctx, l.own, l.scratch("leftover"), skip)
		if err != nil {
			return nil, fmt.Errorf("looking for what isn't committed in %s: %w", t.Path, err)
		}
		if len(left.paths) > 0 {
			now = left.tree
		}
	}
	base, err := l.base(ctx)
	if err != nil {
		return nil, err
	}
	return l.user.Run(ctx, nil, slices.Concat([]string{"diff-tree", "-r", "--no-ext-diff", "--no-textconv"}, how, []string{base, now})...)
}

// base is where the loop's branch left the user's.
func (l *landing) base(ctx context.Context) (string, error) {
	base, err := l.user.Text(ctx, nil, "merge-base", "HEAD", l.at)
	if err != nil {
		err = fmt.Errorf("%s and what is checked out in %s have no commit in common: %w", l.tree.Branch, l.tree.Repo, err)
	}
	return base, err
}

// Settle commits uncommitted files of a worktree on the loop's branch, and lands nothing. If a bundle is named, the
// branch's work since it left the user's is written there, as git's bundle. Its errors are those of Land.
func Settle(ctx context.Context, t Tree, o LandOptions, bundle string) error {
	l, release, err := prepare(ctx, t, o)
	if err != nil {
		return err
	}
	defer release()
	l.onto = l.at // uncommitted files belong on top of that
	l.user.signs(ctx)
	if err := l.lookAtTree(ctx); err != nil {
		return err
	}
	if err := l.settle(ctx); err != nil || bundle == "" {
		return err
	}
	base, err := l.base(ctx)
	if err == nil && base == l.at {
		err = fmt.Errorf("there is nothing to write to %s: all of %s is in what is checked out in %s", bundle, t.Branch, t.Repo)
	}
	if err == nil {
		_, err = l.user.Run(ctx, nil, "bundle", "create", "--quiet", bundle, "refs/heads/"+t.Branch, "^"+base)
	}
	return err
}
