package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
)

// Leaving is what trees have left in a repository: the work of one that was discarded, or the books.
type Leaving struct {
	Path   string // a ref, or a folder
	At     time.Time
	Forget func(context.Context) error // removes it
}

// Leavings lists what trees that are gone have left in a folder's repository. The books are listed
// only if no tree is left.
func Leavings(ctx context.Context, folder string) (all []Leaving, err error) {
	common := CommonDir(folder)
	program, err := git.Find()
	if err != nil || common == "" {
		return nil, nil // where there is no git there are no trees
	}
	g := git.Git{Program: program, Dir: common, Env: []string{"GIT_DIR=" + common}}
	out, err := g.Text(ctx, nil, "for-each-ref", "--format=%(refname) %(objectname) %(committerdate:unix)", discards)
	if err != nil {
		return nil, fmt.Errorf("looking for discarded work: %w", err)
	}
	for line := range strings.Lines(out) {
		if word := strings.Fields(line); len(word) == 3 {
			seconds, _ := strconv.ParseInt(word[2], 10, 64)
			all = append(all, Leaving{word[0], time.Unix(seconds, 0), func(ctx context.Context) error {
				_, err := g.Run(ctx, nil, "update-ref", "-d", word[0], word[1])
				return err
			}})
		}
	}
	info, err := os.Lstat(filepath.Join(recordsOf(common), pastName))
	if err == nil && info.Mode().IsRegular() && len(List(folder)) == 0 {
		all = append(all, Leaving{recordsOf(common), info.ModTime(), func(ctx context.Context) error { return forgetBooks(ctx, common) }})
	}
	return all, nil
}

// forgetBooks removes the folder of a repository's records, unless there is one.
func forgetBooks(ctx context.Context, common string) error {
	dir := recordsOf(common)
	release, err := lockFile(ctx, filepath.Join(dir, "lock"))
	if err != nil {
		return err
	}
	defer release()
	if records, err := fs.Glob(os.DirFS(dir), "*.json"); err != nil || len(records) > 0 {
		return err // somebody makes a tree
	}
	err = errors.Join(os.Remove(filepath.Join(dir, pastName)), os.Remove(filepath.Join(dir, "lock")))
	if left := os.Remove(dir); err == nil && left != nil && !errors.Is(left, fs.ErrNotExist) {
		err = fmt.Errorf("%s has something else in it: %w", dir, left)
	}
	return err
}
