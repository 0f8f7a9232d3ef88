package changes

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/filelock"
	"github.com/ralph-lsp/ralph-lsp/internal/git"
)

const lockName = "lock" // in the loop's own folder

// hold waits until no other process works on the loop's snapshots, and cleans up after one that was killed.
func (s *archive) hold(ctx context.Context) (release func(), err error) {
	file, err := filelock.Hold(ctx, filepath.Join(s.home, lockName))
	if err != nil {
		return nil, fmt.Errorf("locking the snapshots: %w", err)
	}
	s.git.Lock = file
	release = func() {
		s.git.Lock = nil
		filelock.Unlock(file)
		file.Close()
	}
	s.clearWorks()
	_, err = s.incoming().Close()
	if _, isPending := pending(s.git, s.home, s.refsOf()); isPending {
		err = cmp.Or(err, settle(s.home))
	}
	if err = cmp.Or(err, s.clearLocks(ctx)); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// name has the loop's ref lead to all its snapshots, where it led to those before: git keeps what has a name. Where it
// doesn't, git is asked for each of them, so that a repository which was put in the place of another names nothing that
// it hasn't.
func (s *archive) name(ctx context.Context, all, before tip) error {
	set := func(before ...string) error {
		_, err := s.git.Run(ctx, nil, append([]string{"update-ref", s.refsOf() + refName, all.list}, before...)...)
		return err
	}
	switch isFirst := before.list == ""; {
	case all.list != before.list && git.PutRef(git.CommonOf(s.book.GitDir), s.refsOf()+refName, all.list, before.list) == nil:
	case !isFirst && set(before.list) == nil:
	default:
		if _, err := s.git.Run(ctx, []byte(all.listing), "mktree", "-z"); err != nil {
			return lost(err)
		}
		if err := set(); err != nil {
			return err
		}
	}
	os.Remove(filepath.Join(s.home, begunName))
	return nil
}

// Await waits until no other process works on the loop's snapshots, or on its files by an undo.
func (s *Snapshots) Await(ctx context.Context) error {
	release, err := s.in.hold(ctx)
	if err == nil {
		release()
	}
	return err
}

// briefly is how long the user's own git may hold a lock of the loop's ref:
// while it packs refs, say.
const briefly = time.Second

// clearLocks removes the lock of the loop's ref that a git which was killed
// has left: none of ours is at work. Other locks may be somebody's.
func (s *archive) clearLocks(ctx context.Context) error {
	lock := filepath.Join(git.CommonOf(s.book.GitDir), filepath.FromSlash(s.refsOf())+refName+".lock")
	for end := time.Now().Add(briefly); time.Now().Before(end); {
		info, err := os.Lstat(lock)
		if err != nil {
			return nil
		}
		if time.Since(info.ModTime()) > briefly {
			break
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("locking the snapshots: %w", ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
	os.Remove(lock)
	return nil
}
