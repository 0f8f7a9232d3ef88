package changes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
)

// Prune removes the snapshots of loops that have changed nothing for as long as o.Keep. In a
// repository of the user, git's next garbage collection removes the objects.
func Prune(ctx context.Context, o Options) error {
	all, err := All(o)
	errs := []error{err}
	for _, s := range all {
		if time.Since(s.ChangedAt) > o.Keep {
			errs = append(errs, s.Forget(ctx))
		}
	}
	return errors.Join(errs...)
}

// Stored is what is kept of one loop's snapshots.
type Stored struct {
	LoopID, Folder string // "" where they can't be read
	ChangedAt      time.Time
	Bytes          int64  // that all of them have added, wherever they are
	Path           string // of our own folder; the user's repository may have the snapshots
	program        string
}

// All lists the snapshots of all loops.
func All(o Options) (all []Stored, err error) {
	program, dir, err := o.find()
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("looking for old snapshots: %w", err)
	}
	for _, entry := range entries {
		s := Stored{Path: filepath.Join(dir, entry.Name()), program: program}
		info, err := os.Stat(filepath.Join(s.Path, tipName))
		if err != nil { // it has none yet, or never had
			info, err = entry.Info()
		}
		if err != nil {
			continue
		}
		s.ChangedAt = info.ModTime()
		if store, err := open(program, s.Path); err == nil {
			s.LoopID, s.Folder = store.in.id, store.in.book.Folder
			last, _ := store.in.tip() // an unreadable one counts nothing
			s.Bytes = last.spent
		}
		all = append(all, s)
	}
	return all, nil
}

// Forget removes all of them.
func (stored Stored) Forget(ctx context.Context) error {
	s, err := open(stored.program, stored.Path)
	if err == nil && !s.in.book.Own {
		release, err := s.in.hold(ctx)
		if err != nil {
			return err
		}
		defer release()
		s.outlive()
		if _, err := os.Stat(s.in.book.GitDir); err == nil {
			if _, err := s.in.git.Run(ctx, nil, "update-ref", "-d", s.in.refsOf()+refName); err != nil {
				return err
			}
		}
	}
	if err := os.RemoveAll(stored.Path); err != nil {
		return fmt.Errorf("removing old snapshots: %w", err)
	}
	return nil
}

// outlive leads to the refs of a worktree that is gone: its repository has them.
func (s *Store) outlive() {
	book, g := &s.in.book, &s.in.git
	if _, err := os.Stat(book.GitDir); err == nil || filepath.Base(filepath.Dir(book.GitDir)) != "worktrees" {
		return
	}
	book.GitDir = filepath.Dir(filepath.Dir(book.GitDir))
	*g = git.Git{Program: g.Program, Dir: book.GitDir, Settings: ownSettings,
		Env: []string{"GIT_DIR=" + book.GitDir, "GIT_LITERAL_PATHSPECS=1"}, Lock: g.Lock}
	s.Undoer.MayWrite = func() error {
		return fmt.Errorf("the worktree %s is gone, so nothing can be undone in it; what landed is in git", book.Top)
	}
}
