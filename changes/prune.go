package changes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
)

// Prune removes the snapshots of loops that have changed nothing for as long as
// o.Keep. What was in a repository of the user's goes with its next cleaning up.
func Prune(ctx context.Context, o Options) error {
	program, dir, err := o.find()
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("removing old snapshots: %w", err)
	}
	var errs []error
	for _, entry := range entries {
		home := filepath.Join(dir, entry.Name())
		info, err := os.Stat(filepath.Join(home, tipName))
		if err != nil { // it has none yet, or never had
			info, err = entry.Info()
		}
		if err == nil && time.Since(info.ModTime()) > o.Keep {
			errs = append(errs, forget(ctx, program, home))
		}
	}
	return errors.Join(errs...)
}

// forget removes all of one loop's snapshots.
func forget(ctx context.Context, program, home string) error {
	s, err := open(program, home)
	if err == nil && !s.book.Own {
		release, err := s.hold(ctx)
		if err != nil {
			return err
		}
		defer release()
		s.outlive(program)
		if _, err := os.Stat(s.book.GitDir); err == nil {
			refs, err := s.git.Run(ctx, nil, "for-each-ref", "--format=delete %(refname)", s.refsOf())
			if err == nil && len(bytes.TrimSpace(refs)) > 0 {
				_, err = s.git.Run(ctx, refs, "update-ref", "--stdin")
			}
			if err != nil {
				return err
			}
		}
	}
	if err := os.RemoveAll(home); err != nil {
		return fmt.Errorf("removing old snapshots: %w", err)
	}
	return nil
}

// outlive leads to the refs of a worktree that is gone: its repository has them.
func (s *shots) outlive(program string) {
	if _, err := os.Stat(s.book.GitDir); err == nil || filepath.Base(filepath.Dir(s.book.GitDir)) != "worktrees" {
		return
	}
	s.book.GitDir = filepath.Dir(filepath.Dir(s.book.GitDir))
	s.git = git.Git{Program: program, Dir: s.book.GitDir, Settings: ownSettings, Env: []string{"GIT_DIR=" + s.book.GitDir, "GIT_LITERAL_PATHSPECS=1"}, Lock: s.git.Lock}
	s.MayWrite = func() error {
		return fmt.Errorf("the worktree %s is gone, so nothing can be undone in it; what landed is in git", s.book.Top)
	}
}
