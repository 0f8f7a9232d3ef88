package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/filelock"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
)

// holdLanding keeps other landings out of a repository. Programs that git starts hold the lock, too: one that
// outlives us finishes before the next landing looks.
func holdLanding(ctx context.Context, common string) (home string, lock *os.File, release func(), err error) {
	dir, err := paths.State("landing")
	if err != nil {
		return "", nil, nil, err
	}
	sum := sha256.Sum256([]byte(paths.Real(common)))
	home = filepath.Join(dir, hex.EncodeToString(sum[:8]))
	if err := os.MkdirAll(home, 0o700); err != nil {
		return "", nil, nil, fmt.Errorf("making a folder for the landing: %w", err)
	}
	if lock, err = filelock.Hold(ctx, filepath.Join(home, "lock")); err != nil {
		return "", nil, nil, fmt.Errorf("waiting for another landing: %w", err)
	}
	return home, lock, func() {
		for _, name := range []string{"leftover", "trial", "leftover.lock", "trial.lock"} {
			os.Remove(filepath.Join(home, name))
		}
		filelock.Unlock(lock)
		lock.Close()
	}, nil
}

// slug is the end of a loop's branch, as a part of other names.
func landSlug(branch string) string {
	return strings.ReplaceAll(strings.TrimPrefix(branch, ownBranches), "/", "-")
}

// noteRef names a commit that says what is about to land, and as what: its parents
// are the user's next commit and the loop's last one, and it has the files of that. It is there until the worktree
// is gone.
func (l *landing) noteRef() string { return "refs/ralph/landing/" + landSlug(l.tree.Branch) }

func (l *landing) note(ctx context.Context, commit string) error {
	args := []string{"commit-tree", "-m", "landing " + l.tree.Branch, "-p", commit}
	if commit != l.tip { // git takes no parent twice
		args = append(args, "-p", l.tip)
	}
	made, err := l.user.With(nobody...).Text(ctx, nil, append(args, l.tip+"^{tree}")...)
	if err == nil {
		_, err = l.user.Run(ctx, nil, "update-ref", l.noteRef(), made)
	}
	if err != nil {
		return fmt.Errorf("noting what lands: %w", err)
	}
	return nil
}

func (l *landing) forgetNote(ctx context.Context) error {
	_, err := l.user.Run(ctx, nil, "update-ref", "-d", l.noteRef())
	return err
}

// landedBefore says whether a landing that was cut off had brought all that is in
// the worktree to the user's branch.
func (l *landing) landedBefore(ctx context.Context) (bool, error) {
	note, err := l.user.Text(ctx, nil, "rev-parse", "--verify", "--quiet", l.noteRef()+"^{commit}")
	if err != nil {
		return false, nil
	}
	if landed, err := l.user.isIn(ctx, note+"^1", l.onto); err != nil || !landed {
		return false, err
	}
	if known, err := l.user.isIn(ctx, l.at, note); err != nil || !known {
		return false, err
	}
	tree, err := l.user.Text(ctx, nil, "rev-parse", "--verify", l.tip+"^{tree}")
	return err == nil && l.user.isTreeOf(ctx, tree, note), err
}

// finish removes the worktree and its branch when their work has landed, or says
// why they stay.
func (l *landing) finish(ctx context.Context, done *Landed) error {
	if !l.o.Keep {
		past := l.tree.past(FateLanded)
		if past.Into = done.Into; !done.Already {
			past.Commit = done.Commit
		}
		if done.Stays = l.remove(ctx, past); done.Stays == "" {
			done.Gone = true
			return nil
		}
	}
	return errors.Join(l.settle(ctx), l.forgetNote(ctx))
}

// settle puts what wasn't committed on the loop's branch, which stays.
func (l *landing) settle(ctx context.Context) error {
	if l.tip == l.at {
		return nil
	}
	if _, err := l.user.Run(ctx, nil, "update-ref", "-m", "ralph-lsp land", "refs/heads/"+l.tree.Branch, l.tip, l.at); err != nil {
		return err
	}
	l.at = l.tip
	// The worktree's index still has the old tip: the new commit would show as a change that reverts it.
	_, err := l.own.Run(ctx, nil, "reset", "--quiet")
	return err
}

// finishRemovals does the rest of what somebody was killed at.
func finishRemovals(ctx context.Context, common string) error {
	dir := recordsOf(common)
	if !exists(dir) {
		return nil
	}
	if err := makeRecords(common); err != nil {
		return err
	}
	release, err := lockFile(ctx, filepath.Join(dir, "lock"))
	if err != nil {
		return err
	}
	defer release()
	return repo{common: common}.clean()
}

// remove removes the worktree and its branch, and says why they stay, "" if they
// don't. A record says what goes before anything does, so a half of the folder never
// looks as if the loop had deleted the rest.
func (l *landing) remove(ctx context.Context, past Past) (stays string) {
	if exists(filepath.Join(l.tree.Path, ".git")) {
		if stays := l.isInUse(ctx); stays != "" {
			return stays
		}
	}
	rec := record{ID: filepath.Base(l.tree.Admin), Tree: l.tree,
		Place: strings.HasSuffix(filepath.Dir(l.tree.Path), ".worktrees"), Common: l.common}
	rec.Base, rec.Made = l.at, l.tree.Made && !l.isElsewhere(ctx)
	if err := makeRecords(l.common); err != nil {
		return err.Error()
	}
	// The line of the history comes first: of a worktree that is gone nothing else tells.
	if err := takeDown(l.common, past); err != nil {
		return err.Error()
	}
	if err := rec.create(); err != nil {
		return err.Error()
	}
	if err := l.forgetNote(ctx); err != nil {
		return errors.Join(err, rec.remove()).Error()
	}
	if err := rec.undo(); err != nil {
		return err.Error()
	}
	if rec.Made { // git's notes of the branch; there may be none
		_, _ = l.user.Run(ctx, nil, "config", "--local", "--remove-section", "branch."+l.tree.Branch)
	}
	return ""
}

// isElsewhere says whether another work tree has the branch.
func (l *landing) isElsewhere(ctx context.Context) bool {
	return slices.ContainsFunc(checkedOut(ctx, l.user.Git, l.tree.Branch), func(at string) bool { return paths.Real(at) != l.tree.Path })
}

// isInUse says why a worktree has to stay: it has what landing didn't see.
func (l *landing) isInUse(ctx context.Context) string {
	if len(l.left.other) > 0 {
		return strings.Join(l.left.other, ", ") + " may have work that no commit of the loop's has; when it hasn't: git -C " +
			format.ShellWord(l.tree.Repo) + " worktree remove --force " + format.ShellWord(l.tree.Path)
	}
	if exists(filepath.Join(l.tree.Admin, "locked")) {
		return "it is locked (git worktree unlock " + format.ShellWord(l.tree.Path) + ")"
	}
	// Looked at again: somebody may have written there while the merge was computed, and removing it would lose that.
	left, err := lookForLeftover(ctx, l.own, l.scratch("leftover"), l.o.Skip)
	if err != nil {
		return err.Error()
	}
	if !l.user.isTreeOf(ctx, left.tree, l.tip) {
		return "it has changed meanwhile"
	}
	return ""
}

// Lost returns our trees of a repository whose folder is gone, but not their branch.
func Lost(folder string) []Tree {
	return listed(folder, func(t Tree, isWhole bool) bool { return !isWhole && t.Path != "" && !exists(t.Path) })
}
