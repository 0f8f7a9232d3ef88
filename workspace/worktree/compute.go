package worktree

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
)

// compute makes what is to land, as objects that no branch has yet.
func (l *landing) compute(ctx context.Context) (Landed, error) {
	done := Landed{Branch: l.tree.Branch, Into: l.into, Commit: l.onto, Leftover: l.left.paths, Already: true}
	before, err := l.landedBefore(ctx)
	if err != nil || before {
		return done, err
	}
	if landed, err := l.user.isIn(ctx, l.tip, l.onto); err != nil || landed {
		return done, err
	}
	made, err := l.makeCommit(ctx)
	if err != nil || made == l.onto {
		return done, err
	}
	count, err := l.user.Text(ctx, nil, "rev-list", "--count", l.onto+".."+made)
	if err != nil {
		return done, err
	}
	files, err := l.user.List(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", l.onto, made)
	done.Commit, done.Already, done.Files, done.paths = made, false, len(files), files
	done.Commits, _ = strconv.Atoi(count)
	return done, err
}

// makeCommit makes the commit that the user's branch is to move on to.
func (l *landing) makeCommit(ctx context.Context) (string, error) {
	hasBase := true
	var err error
	if l.ownBase() != "" {
		if hasBase, err = l.user.isIn(ctx, l.tree.Base, l.onto); err != nil {
			return "", err
		}
	}
	forward, err := l.user.isIn(ctx, l.onto, l.tip)
	switch {
	case err != nil:
		return "", err
	case l.o.How == HowSquash:
		return l.squash(ctx, hasBase)
	case l.o.How == HowRebase && l.o.Message != "":
		return "", refuse(ReasonMessage, "a rebase keeps the messages of the loop's commits, so there is none for yours",
			"leave the message out", "squash them to one commit")
	case l.o.How == HowMerge && !hasBase:
		return "", l.elsewhere(ctx)
	case forward && hasBase && l.o.Message == "":
		return l.tip, nil
	case l.o.How == HowRebase:
		return l.rebase(ctx)
	}
	tree, err := l.merged(l.user.merge(ctx, l.onto, l.tip))
	if err != nil || l.user.isTreeOf(ctx, tree, l.onto) {
		return l.onto, err
	}
	return l.user.commitInName(ctx, tree, cmp.Or(l.o.Message, fmt.Sprintf("Merge branch '%s' into %s", l.tree.Branch, l.into)), l.onto, l.tip)
}

// elsewhere refuses a merge that would bring along what isn't the loop's.
func (l *landing) elsewhere(ctx context.Context) error {
	only := "land with --squash or --rebase, which take only the loop's work"
	if subject, _ := l.user.messageOf(ctx, l.tree.Base); strings.TrimSpace(subject) == changesMessage {
		return refuse(ReasonElsewhere, "the loop began with what you hadn't committed, and a merge would commit that, too", only)
	}
	return refuse(ReasonElsewhere,
		fmt.Sprintf("the branch %s doesn't have the commit %.9s that the loop began with, so a merge would bring along what "+
			"isn't the loop's", l.into, l.tree.Base),
		"switch to the branch where it began, then land again", only)
}

// squash makes one commit of all that the loop did.
func (l *landing) squash(ctx context.Context, hasBase bool) (string, error) {
	var tree string
	var err error
	if hasBase {
		tree, err = l.merged(l.user.merge(ctx, l.onto, l.tip))
	} else {
		tree, err = l.merged(l.user.pick(ctx, l.onto, l.tree.Base, l.tip))
	}
	if err != nil || l.user.isTreeOf(ctx, tree, l.onto) {
		return l.onto, err
	}
	message := cmp.Or(l.o.Message, l.o.Words)
	if commits, err := l.commits(ctx); err != nil {
		return "", err
	} else if len(commits) == 1 && l.o.Message == "" {
		if message, err = l.user.messageOf(ctx, commits[0]); err != nil {
			return "", err
		}
	}
	return l.user.commitInName(ctx, tree, cmp.Or(message, "Work on "+l.tree.Branch), l.onto)
}

// rebase makes a copy of each of the loop's commits, on top of the user's.
func (l *landing) rebase(ctx context.Context) (string, error) {
	commits, err := l.commits(ctx)
	if err != nil {
		return "", err
	}
	if len(commits) > 0 {
		if err := knowsWho(ctx, l.user.Git); err != nil {
			return "", err
		}
	}
	onto := l.onto
	for _, commit := range commits {
		tree, err := l.merged(l.user.pick(ctx, onto, commit+"^", commit))
		if err != nil {
			return "", err
		}
		if l.user.isTreeOf(ctx, tree, onto) {
			continue // it is there already
		}
		who, err := l.user.Text(ctx, nil, "log", "-1", "--format=%an%x00%ae%x00%ad", "--date=raw", commit)
		if err != nil {
			return "", err
		}
		message, err := l.user.messageOf(ctx, commit)
		if err != nil {
			return "", err
		}
		author := append(strings.Split(who, "\x00"), "", "", "")
		as := l.user.as("GIT_AUTHOR_NAME="+author[0], "GIT_AUTHOR_EMAIL="+author[1], "GIT_AUTHOR_DATE="+author[2])
		if onto, err = as.commit(ctx, tree, message, onto); err != nil {
			return "", err
		}
	}
	return onto, nil
}

// commits are the loop's, without its merges, the first one first.
func (l *landing) commits(ctx context.Context) ([]string, error) {
	args := []string{"rev-list", "--reverse", "--topo-order", "--no-merges", l.tip, "^" + l.onto}
	if base := l.ownBase(); base != "" {
		args = append(args, "^"+base)
	}
	out, err := l.user.Text(ctx, nil, args...)
	return strings.Fields(out), err
}

// ownBase is the commit that the loop's own work begins with: none on a branch that
// was there before, which lands as a whole.
func (l *landing) ownBase() string {
	if !l.tree.Made {
		return ""
	}
	return l.tree.Base
}

// merged is a tree that git has merged. Conflicts refuse the landing.
func (l *landing) merged(tree string, conflicts []InTheWay, err error) (string, error) {
	if err == nil && tree == "" {
		err = conflictOf(l, l.into, "", conflicts)
	}
	return tree, err
}

// conflictOf refuses what git can't merge. with is the branch whose changes it conflicts with, and before what has to be
// done before anybody can merge it.
func conflictOf(l *landing, with, before string, paths []InTheWay) *Refused {
	refused := refuse(ReasonConflict, fmt.Sprintf("%s and %s changed the same places", l.tree.Branch, with),
		"git -C "+format.ShellWord(l.tree.Path)+" merge "+format.ShellWord(l.into)+", solve the conflicts there, commit, then land again",
		"let a loop in "+l.tree.Path+" do that")
	if branch := format.ShellWord(l.tree.Branch); !exists(l.tree.Path) {
		refused.Fix = []string{before + "let a loop do it: ralph-lsp run --worktree=" + branch + " " +
			format.ShellWord("Merge "+l.into+", solve the conflicts, and commit") + ", then ralph-lsp land " + branch}
	}
	refused.Paths = paths
	return refused
}
