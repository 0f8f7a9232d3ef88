package worktree

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
	"github.com/ralph-lsp/ralph-lsp/internal/tell"
)

// compute makes what is to land, as objects that no branch has yet.
func (l *landing) compute(ctx context.Context) (Landed, error) {
	done := Landed{Branch: l.tree.Branch, Into: l.into, Commit: l.onto, Leftover: l.left.paths, Already: true}
	before, err := l.landedBefore(ctx)
	if err != nil || before {
		return done, err
	}
	if landed, err := l.isIn(ctx, l.tip, l.onto); err != nil || landed {
		return done, err
	}
	made, err := l.join(ctx)
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

// join makes the commit that the user's branch is to move on to.
func (l *landing) join(ctx context.Context) (string, error) {
	hasBase := true
	var err error
	if l.ownBase() != "" {
		if hasBase, err = l.isIn(ctx, l.tree.Base, l.onto); err != nil {
			return "", err
		}
	}
	forward, err := l.isIn(ctx, l.onto, l.tip)
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
	tree, err := l.mergeTree(ctx, l.onto, l.tip)
	if err != nil || l.isTreeOf(ctx, tree, l.onto) {
		return l.onto, err
	}
	return l.commit(ctx, tree, cmp.Or(l.o.Message, fmt.Sprintf("Merge branch '%s' into %s", l.tree.Branch, l.into)), l.onto, l.tip)
}

// elsewhere refuses a merge that would bring along what isn't the loop's.
func (l *landing) elsewhere(ctx context.Context) error {
	only := "land with --squash or --rebase, which take only the loop's work"
	if subject, _ := l.messageOf(ctx, l.tree.Base); strings.TrimSpace(subject) == changesMessage {
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
		tree, err = l.mergeTree(ctx, l.onto, l.tip)
	} else {
		tree, err = l.pick(ctx, l.onto, l.tree.Base, l.tip)
	}
	if err != nil || l.isTreeOf(ctx, tree, l.onto) {
		return l.onto, err
	}
	message := cmp.Or(l.o.Message, l.o.Words)
	if commits, err := l.commits(ctx); err != nil {
		return "", err
	} else if len(commits) == 1 && l.o.Message == "" {
		if message, err = l.messageOf(ctx, commits[0]); err != nil {
			return "", err
		}
	}
	return l.commit(ctx, tree, cmp.Or(message, "Work on "+l.tree.Branch), l.onto)
}

// rebase makes a copy of each of the loop's commits, on top of the user's.
func (l *landing) rebase(ctx context.Context) (string, error) {
	commits, err := l.commits(ctx)
	if err != nil {
		return "", err
	}
	if len(commits) > 0 {
		if err := knowsWho(ctx, l.user); err != nil {
			return "", err
		}
	}
	onto := l.onto
	for _, commit := range commits {
		tree, err := l.pick(ctx, onto, commit+"^", commit)
		if err != nil {
			return "", err
		}
		if l.isTreeOf(ctx, tree, onto) {
			continue // it is there already
		}
		who, err := l.user.Text(ctx, nil, "log", "-1", "--format=%an%x00%ae%x00%ad", "--date=raw", commit)
		if err != nil {
			return "", err
		}
		message, err := l.messageOf(ctx, commit)
		if err != nil {
			return "", err
		}
		author := append(strings.Split(who, "\x00"), "", "", "")
		as := l.user.With("GIT_AUTHOR_NAME="+author[0], "GIT_AUTHOR_EMAIL="+author[1], "GIT_AUTHOR_DATE="+author[2])
		if onto, err = l.commitAs(ctx, as, tree, message, onto); err != nil {
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

func (l *landing) messageOf(ctx context.Context, commit string) (string, error) {
	return l.user.Text(ctx, nil, "log", "-1", "--format=%B", commit)
}

func (l *landing) isIn(ctx context.Context, commit, of string) (bool, error) {
	return l.user.Yes(ctx, "merge-base", "--is-ancestor", commit, of)
}

func (l *landing) isTreeOf(ctx context.Context, tree, commit string) bool {
	own, err := l.user.Text(ctx, nil, "rev-parse", "--verify", commit+"^{tree}")
	return err == nil && own == tree
}

// nobody are the author and the committer of commits that nobody gets to see.
var nobody = []string{
	"GIT_AUTHOR_NAME=ralph-lsp", "GIT_AUTHOR_EMAIL=ralph-lsp@localhost",
	"GIT_COMMITTER_NAME=ralph-lsp", "GIT_COMMITTER_EMAIL=ralph-lsp@localhost",
}

// pick makes the tree of what changed between two commits on top of a third. Git
// looks for the base itself, so it is shown one.
func (l *landing) pick(ctx context.Context, onto, base, commit string) (tree string, err error) {
	as, err := l.user.With(nobody...).Text(ctx, nil, "commit-tree", "-m", "onto", "-p", base, onto+"^{tree}")
	if err != nil {
		return "", err
	}
	return l.mergeTree(ctx, as, commit)
}

// mergeTree merges two commits to a tree.
func (l *landing) mergeTree(ctx context.Context, ours, theirs string) (tree string, err error) {
	out, err := l.user.Run(ctx, nil, "merge-tree", "--write-tree", "--name-only", "-z", ours, theirs)
	if err != nil && git.ExitCode(err) != 1 {
		return "", err
	}
	words := git.Fields(out)
	if len(words) == 0 {
		return "", cmp.Or(err, fmt.Errorf("git merge-tree printed nothing"))
	}
	if err == nil {
		return words[0], nil
	}
	return "", conflictOf(l, l.into, "", conflictsIn(words[1:]))
}

// conflictOf refuses what git can't merge. with is the branch whose changes it conflicts with, and before what has to be
// done before anybody can merge it.
func conflictOf(l *landing, with, before string, paths []InTheWay) *Refused {
	refused := refuse(ReasonConflict, fmt.Sprintf("%s and %s changed the same places", l.tree.Branch, with),
		"git -C "+tell.ShellWord(l.tree.Path)+" merge "+tell.ShellWord(l.into)+", solve the conflicts there, commit, then land again",
		"let a loop in "+l.tree.Path+" do that")
	if branch := tell.ShellWord(l.tree.Branch); !exists(l.tree.Path) {
		refused.Fix = []string{before + "let a loop do it: ralph-lsp run --worktree=" + branch + " " +
			tell.ShellWord("Merge "+l.into+", solve the conflicts, and commit") + ", then ralph-lsp land " + branch}
	}
	refused.Paths = paths
	return refused
}

// kinds are git's words for conflicts, and ours.
var kinds = map[string]string{
	"CONFLICT (contents)":            "both changed the same lines",
	"CONFLICT (modify/delete)":       "one changed it, the other deleted it",
	"CONFLICT (rename/rename)":       "both renamed it",
	"CONFLICT (rename/delete)":       "one renamed it, the other deleted it",
	"CONFLICT (file/directory)":      "it is a file here and a folder there",
	"CONFLICT (binary)":              "both changed it, and it is no text",
	"CONFLICT (submodule)":           "both moved the submodule",
	"CONFLICT (distinct modes)":      "it is of another kind here than there",
	"CONFLICT (directory rename)":    "one renamed its folder",
	"CONFLICT (submodule may have)":  "both moved the submodule",
	"CONFLICT (submodule not found)": "both moved the submodule",
}

// conflictsIn reads what git merge-tree -z says behind the tree: paths, an empty
// field, and messages of a count, so many paths, a kind and a text.
func conflictsIn(words []string) []InTheWay {
	end := max(slices.Index(words, ""), 0)
	if end == 0 {
		end = len(words)
	}
	why := map[string]string{}
	for rest := words[min(end+1, len(words)):]; len(rest) > 0; {
		n, err := strconv.Atoi(rest[0])
		if err != nil || n < 0 || len(rest) < n+3 {
			break
		}
		if kind := rest[n+1]; strings.HasPrefix(kind, "CONFLICT") {
			for _, path := range rest[1 : n+1] {
				why[path] = cmp.Or(kinds[kind], "both changed it")
			}
		}
		rest = rest[n+3:]
	}
	var found []InTheWay
	for _, path := range words[:end] {
		found = append(found, InTheWay{path, cmp.Or(why[path], "both changed it")})
	}
	slices.SortFunc(found, func(a, b InTheWay) int { return cmp.Compare(a.Path, b.Path) })
	return found
}
