package worktree

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// Discarded is what became of a worktree that nobody wants, or would.
type Discarded struct {
	Branch   string
	Commits  []string // the subjects of those that the user's branch doesn't have, the last one first
	Leftover []string // files that weren't committed
	Ref      string   // has all of it; "": there was nothing to lose
	Stays    string   // why the worktree isn't removed
}

// Discard removes a worktree and its branch. Work that hasn't landed stays in the repository below
// refs/ralph/discarded, with the files that weren't committed. skip are beginnings of paths in the worktree
// that are nobody's work. dryRun only says what would be lost.
//
// Errors: *Refused, and what git or the system says; nothing is removed then.
func Discard(ctx context.Context, t Tree, skip []string, dryRun bool) (Discarded, error) {
	l, release, err := prepare(ctx, t, LandOptions{Skip: skip})
	if err != nil {
		return Discarded{}, err
	}
	defer release()
	l.tip = l.at
	done := Discarded{Branch: t.Branch}
	tips, err := l.takeAll(ctx)
	if err != nil {
		return done, err
	}
	done.Leftover = l.left.paths
	if done.Commits, err = l.notLanded(ctx, tips); err != nil {
		return done, err
	}
	if len(done.Commits)+len(done.Leftover) > 0 {
		if done.Ref, err = l.freeRef(ctx); err != nil {
			return done, err
		}
	}
	if dryRun {
		return done, nil
	}
	ctx = context.WithoutCancel(ctx)
	if done.Ref != "" {
		if _, err := l.user.Run(ctx, nil, "update-ref", done.Ref, l.tip); err != nil {
			return done, fmt.Errorf("keeping what is discarded: %w", err)
		}
	}
	past := l.tree.past(FateDiscarded)
	past.Ref = done.Ref
	done.Stays = l.remove(ctx, past)
	return done, nil
}

// takeAll makes a commit of all that is in the worktree, wherever its HEAD is. It
// returns the commits that the work ends with.
func (l *landing) takeAll(ctx context.Context) (tips []string, err error) {
	if l.tree.Made { // else the branch stays
		tips = []string{l.at}
	}
	if !exists(filepath.Join(l.tree.Path, ".git")) {
		return tips, nil
	}
	if l.left, err = lookForLeftover(ctx, l.own, l.scratch("leftover"), l.o.Skip); err != nil {
		return nil, fmt.Errorf("looking for what isn't committed in %s: %w", l.tree.Path, err)
	}
	head, err := l.own.Text(ctx, nil, "rev-parse", "--verify", "HEAD^{commit}")
	if err != nil {
		return nil, err
	}
	parents := []string{l.at}
	if within, err := l.user.isIn(ctx, head, l.at); err != nil {
		return nil, err
	} else if !within { // on a branch of the agent's, or on none
		parents, tips = append(parents, head), append(tips, head)
	}
	if !l.user.isTreeOf(ctx, l.left.tree, l.at) || len(parents) > 1 {
		l.tip, err = l.user.as(nobody...).commit(ctx, l.left.tree, "Not committed on "+l.tree.Branch, parents...)
	}
	return tips, err
}

// notLanded are the subjects of the commits that would be lost.
func (l *landing) notLanded(ctx context.Context, tips []string) ([]string, error) {
	if len(tips) == 0 {
		return nil, nil
	}
	args := append(append([]string{"log", "--format=%s", "-z"}, tips...), "--not")
	if head, err := l.user.Text(ctx, nil, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err == nil {
		args = append(args, head)
	}
	if l.tree.Base != "" {
		args = append(args, l.tree.Base)
	}
	return l.user.List(ctx, args...)
}

// discards is where refs have what was discarded.
const discards = "refs/ralph/discarded/"

// freeRef is a name for what is discarded: one that nothing else has.
func (l *landing) freeRef(ctx context.Context) (string, error) {
	out, err := l.user.Text(ctx, nil, "for-each-ref", "--format=%(refname) %(objectname)", discards)
	if err != nil {
		return "", err
	}
	taken := map[string]string{}
	for line := range strings.Lines(out) {
		name, at, _ := strings.Cut(strings.TrimSpace(line), " ")
		taken[name] = at
	}
	first := discards + landSlug(l.tree.Branch)
	name := first
	for n := 2; taken[name] != "" && taken[name] != l.tip; n++ {
		name = first + "-" + strconv.Itoa(n)
	}
	return name, nil
}
