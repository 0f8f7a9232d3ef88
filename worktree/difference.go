package worktree

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// Change is a file that differs between the user's branch and the loop's.
type Change struct {
	Path           string // from the top, with slashes, in whatever bytes it has
	Added, Removed int    // lines
	Binary         bool
}

// Changes lists what the loop did since its branch left the user's, with what isn't committed
// yet. Nothing is written but git's objects, and nothing is refused, as nothing lands.
func Changes(ctx context.Context, t Tree, skip []string) ([]Change, error) {
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
	base, err := l.user.Text(ctx, nil, "merge-base", "HEAD", l.at)
	if err != nil {
		return nil, fmt.Errorf("%s and what is checked out in %s have no commit in common: %w", t.Branch, t.Repo, err)
	}
	lines, err := l.user.List(ctx, "diff-tree", "-r", "-z", "--numstat", "--no-renames", base, now)
	var found []Change
	for _, line := range lines { // "1\t2\tpath", of what is no text "-\t-\tpath"
		if counts := strings.SplitN(line, "\t", 3); len(counts) == 3 {
			c := Change{Path: counts[2], Binary: counts[0] == "-"}
			c.Added, _ = strconv.Atoi(counts[0])
			c.Removed, _ = strconv.Atoi(counts[1])
			found = append(found, c)
		}
	}
	return found, err
}
