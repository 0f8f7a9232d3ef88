package worktree

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
)

// leftover is what isn't committed in a worktree.
type leftover struct {
	tree  string   // with it
	paths []string // its paths, in order; none: the tree is the last commit's
	other []string // repositories within, which no commit can keep
}

// index is git with an index of our own, a copy.
type index struct {
	git.Git
	path, from string
	copied     os.FileInfo // the original then; nil: there was none
}

// copyIndex copies the index of a work tree.
func copyIndex(g git.Git, to string) (index, error) {
	from := filepath.Join(gitDirOf(g.Dir), "index")
	_, info, err := git.CopyIndex(from, to)
	return index{Git: g.With("GIT_INDEX_FILE=" + to), path: to, from: from, copied: info}, err
}

// freshIndex is a copy that knows which files changed only their times.
func freshIndex(ctx context.Context, g git.Git, to string) (index, error) {
	own, err := copyIndex(g, to)
	if err == nil {
		_, err = own.Run(ctx, nil, "update-index", "-q", "--refresh")
	}
	if git.ExitCode(err) == 1 { // some files have changed
		err = nil
	}
	return own, err
}

// install makes the copy the work tree's index, unless git has written that since or does so now.
func (at index) install() bool {
	lock, err := os.OpenFile(at.from+".lock", os.O_CREATE|os.O_EXCL, 0o666) // as git locks it
	if err != nil {
		return false
	}
	lock.Close()
	defer os.Remove(at.from + ".lock")
	now, err := os.Lstat(at.from)
	return err == nil && os.SameFile(now, at.copied) && now.ModTime().Equal(at.copied.ModTime()) && os.Rename(at.path, at.from) == nil
}

// lookForLeftover finds what isn't committed in a worktree and isn't ignored. It
// changes nothing there.
func lookForLeftover(ctx context.Context, own git.Git, scratch string, skip []string) (leftover, error) {
	var found leftover
	at, err := freshIndex(ctx, own, scratch)
	if err != nil {
		return found, err
	}
	links, err := at.Submodules(ctx)
	if err != nil {
		return found, err
	}
	within, err := at.StageAll(ctx, func(path string) bool {
		return slices.Contains(links, path) || slices.ContainsFunc(skip,
			func(beginning string) bool { return strings.HasPrefix(path, beginning) })
	})
	if err != nil {
		return found, err
	}
	for _, path := range within {
		found.other = append(found.other, strings.TrimSuffix(path, "/"))
	}
	if found.tree, err = at.Text(ctx, nil, "write-tree"); err != nil {
		return found, err
	}
	if found.paths, err = at.List(ctx, "diff-index", "--cached", "-z", "--name-only", "--no-renames",
		"--ignore-submodules=all", "HEAD"); err != nil {
		return found, err
	}
	for _, path := range links {
		if exists(filepath.Join(own.Dir, path, ".git")) {
			found.other = append(found.other, path)
		}
	}
	return found, err
}

// compare compares a work tree on head with a commit that is to land there: which of the files that land, and aren't
// committed there, are there as they would land, and which are in the way.
func (at index) compare(ctx context.Context, head, commit string) (same []string, inTheWay []InTheWay, err error) {
	landing, err := at.changes(ctx, "diff-tree", "-r", "-z", "--raw", "--no-renames", head, commit)
	if err != nil {
		return nil, nil, err
	}
	staged, err := at.changes(ctx, "diff-index", "--cached", "-z", "--raw", "--no-renames", "--ignore-submodules=all", head)
	if err != nil {
		return nil, nil, err
	}
	dirty, err := at.List(ctx, "diff-files", "-z", "--name-only", "--no-ext-diff", "--ignore-submodules=all")
	if err != nil {
		return nil, nil, err
	}
	isDirty := map[string]bool{}
	for _, path := range dirty {
		isDirty[path] = true
	}
	for _, path := range slices.Sorted(maps.Keys(landing)) {
		to := landing[path]
		was, isStaged := staged[path]
		why := ""
		switch {
		case isDirty[path]:
			why = "has changes that aren't committed"
		case isStaged:
			why = "is staged and not committed"
		case to.from == "000000" && exists(filepath.Join(at.Dir, filepath.FromSlash(path))):
			why = "is an untracked file"
		default:
			continue
		}
		if (!isStaged || was.oid == to.oid) && at.isThere(ctx, path, to) {
			same = append(same, path)
		} else {
			inTheWay = append(inTheWay, InTheWay{path, why})
		}
	}
	return same, inTheWay, nil
}

// change is a file that differs: its modes, and its content in the second tree.
type change struct{ from, to, oid string }

// changes reads ":100644 100755 oid oid M", "path".
func (at index) changes(ctx context.Context, args ...string) (map[string]change, error) {
	words, err := at.List(ctx, args...)
	found := map[string]change{}
	for ; len(words) > 1; words = words[2:] {
		if f := strings.Fields(strings.TrimPrefix(words[0], ":")); len(f) >= 4 {
			found[words[1]] = change{f[0], f[1], f[3]}
		}
	}
	return found, err
}

// isThere says whether a file of the work tree is what would land.
func (at index) isThere(ctx context.Context, path string, as change) bool {
	full := filepath.Join(at.Dir, filepath.FromSlash(path))
	info, err := os.Lstat(full)
	switch {
	case as.to == "000000":
		return os.IsNotExist(err)
	case err != nil:
		return false
	case as.to == "120000":
		target, err := os.Readlink(full)
		if err != nil {
			return false
		}
		oid, err := at.Text(ctx, []byte(target), "hash-object", "--stdin")
		return err == nil && oid == as.oid
	case !info.Mode().IsRegular() || (as.to == "100755") != (info.Mode()&0o100 != 0):
		return false
	}
	oid, err := at.Text(ctx, nil, "hash-object", "--", path)
	return err == nil && oid == as.oid
}
