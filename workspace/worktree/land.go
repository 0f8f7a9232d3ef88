package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/git"
)

// How a branch lands.
type How string

const (
	HowMerge  How = "merge"  // as git merge does: a fast-forward, or a commit with two parents
	HowSquash How = "squash" // one commit
	HowRebase How = "rebase" // a copy of each commit
)

// LandOptions say how a worktree lands. Git's own messages are taken where none
// is given.
type LandOptions struct {
	How     How      // "": HowMerge
	Message string   // of the commit that landing makes
	Words   string   // of the commit of what isn't committed yet, and of a squash
	Skip    []string // beginnings of paths in the worktree that are nobody's work
	DryRun  bool     // nothing is written but git's objects
	Keep    bool     // the worktree and its branch stay
}

// Landed is what came of a landing, or would.
type Landed struct {
	Branch string // the loop's
	Into   string // the user's branch
	Commit string // where the user's branch is now
	Commits,
	Files int // that came to the user's branch
	Leftover []string // files that weren't committed on the loop's branch
	Already  bool     // there was nothing to land
	Gone     bool     // the worktree and its branch are removed
	Stays    string   // why not, where nobody asked for that
	paths    []string // of Files
}

// landing is one that is under way.
type landing struct {
	tree   Tree
	o      LandOptions
	user   objects // the user's work tree
	own    git.Git // the loop's
	home   string  // for our own files
	common string  // git's folder

	head, into string // the user's commit and branch
	onto       string // the commit it lands on: head, or the landings before it
	at         string // where the loop's branch is
	tip        string // at, or a commit of what isn't committed on top of it
	left       leftover
}

// Land merges the loop's branch into the branch that is checked out in the repository's work tree, and removes the
// worktree. The merge is computed without touching anything; then git itself moves the user's branch forward, which
// it refuses where that would touch uncommitted work.
//
// Errors: *Refused, git's and the system's. All change nothing: the next landing finishes or reverts what was begun.
func Land(ctx context.Context, t Tree, o LandOptions) (Landed, error) {
	o.How = cmp.Or(o.How, HowMerge)
	l, release, err := prepare(ctx, t, o)
	if err != nil {
		return Landed{}, err
	}
	defer release()
	// The user's side first: obstacles there are found before a commit is made of the worktree's files.
	if err := l.lookAtUser(ctx, t); err != nil {
		return Landed{}, err
	}
	if err := l.lookAtTree(ctx); err != nil {
		return Landed{}, err
	}
	done, err := l.compute(ctx)
	if err != nil {
		return Landed{}, err
	}
	if !done.Already {
		if err := l.wouldTouch(ctx, done.Commit); err != nil {
			return Landed{}, err
		}
	}
	if o.DryRun {
		return done, nil
	}
	// Half of a landing is worse than a late one.
	ctx = context.WithoutCancel(ctx)
	if !done.Already {
		if err := l.fastForwardTo(ctx, done.Commit); err != nil {
			return Landed{}, err
		}
	}
	return done, l.finish(ctx, &done)
}

// ErrGone says that a worktree had landed, or was discarded.
var ErrGone = errors.New("the worktree is gone: it has landed, or was discarded")

// prepare opens the repository and keeps other landings out of it.
func prepare(ctx context.Context, t Tree, o LandOptions) (*landing, func(), error) {
	user, err := openCheckout(t.Repo)
	if err != nil {
		return nil, nil, err
	}
	if err := newEnough(ctx, user, t); err != nil {
		return nil, nil, err
	}
	common, err := user.Text(ctx, nil, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return nil, nil, fmt.Errorf("looking at the repository %s: %w", t.Repo, err)
	}
	home, lock, release, err := holdLanding(ctx, common)
	if err != nil {
		return nil, nil, err
	}
	user.Lock = lock
	l := &landing{tree: t, o: o, user: objects{Git: user}, own: user.In(t.Path), home: home, common: common}
	if err := finishRemovals(ctx, common); err != nil {
		release()
		return nil, nil, err
	}
	if err := l.findBranch(ctx); err != nil {
		release()
		return nil, nil, err
	}
	return l, release, nil
}

// findBranch finds where the loop's branch is.
func (l *landing) findBranch(ctx context.Context) (err error) {
	t := l.tree
	if l.at, err = l.user.Text(ctx, nil, "rev-parse", "--verify", "--quiet", "refs/heads/"+t.Branch+"^{commit}"); err == nil {
		return nil
	}
	if err := l.forgetNote(ctx); err != nil {
		return err
	}
	if exists(t.Path) {
		return fmt.Errorf("the branch %s is gone from %s; git -C %s switch -C %[1]s makes it of what is in the worktree",
			t.Branch, t.Repo, format.ShellWord(t.Path))
	}
	return ErrGone
}

// newEnough says whether git can merge without a work tree.
func newEnough(ctx context.Context, g git.Git, t Tree) error {
	version, err := g.Text(ctx, nil, "version")
	if err != nil {
		return err
	}
	var major, minor int
	_, _ = fmt.Sscanf(version, "git version %d.%d", &major, &minor)
	if major > 2 || major == 2 && minor >= 38 {
		return nil
	}
	return refuse(ReasonOldGit, fmt.Sprintf("landing needs git 2.38 or newer, and this is %s", strings.TrimPrefix(version, "git version ")),
		"git -C "+format.ShellWord(t.Repo)+" merge "+format.ShellWord(t.Branch))
}

// underWay are the files of a git folder that say what somebody is in the middle of.
var underWay = [][2]string{
	{"MERGE_HEAD", "a merge"},
	{"rebase-merge", "a rebase"},
	{"rebase-apply", "a rebase"},
	{"CHERRY_PICK_HEAD", "a cherry-pick"},
	{"REVERT_HEAD", "a revert"},
	{"BISECT_LOG", "a bisect"},
}

// underWayIn says what is under way in a work tree; "" for nothing.
func underWayIn(top string) (what string) {
	for _, sign := range underWay {
		if exists(filepath.Join(gitDirOf(top), sign[0])) {
			return sign[1]
		}
	}
	return ""
}

// lookAtUser finds the user's branch, and what is in the way there of trees.
func (l *landing) lookAtUser(ctx context.Context, trees ...Tree) error {
	there := "git -C " + format.ShellWord(l.tree.Repo)
	if bare, err := l.user.Text(ctx, nil, "rev-parse", "--is-inside-work-tree"); err != nil || bare != "true" {
		return refuse(ReasonDetached, l.tree.Repo+" has no work tree to land in", "merge "+l.tree.Branch+" where you have one")
	}
	branch, err := l.user.Text(ctx, nil, "symbolic-ref", "--quiet", "HEAD")
	switch {
	case underWayIn(l.tree.Repo) != "":
		return refuse(ReasonUnderWay, underWayIn(l.tree.Repo)+" is under way in "+l.tree.Repo,
			"finish it ("+there+" status says how), then land again")
	case err != nil:
		return refuse(ReasonDetached, l.tree.Repo+" is on no branch (a detached HEAD)", there+" switch BRANCH, then land again")
	}
	if lock := filepath.Join(gitDirOf(l.tree.Repo), "index.lock"); exists(lock) {
		return refuse(ReasonLocked, "another git is at work in "+l.tree.Repo+", or one was killed there: "+lock+" is in the way",
			"when none is at work, remove that file and land again")
	}
	l.into = strings.TrimPrefix(branch, "refs/heads/")
	if slices.ContainsFunc(trees, func(t Tree) bool { return t.Branch == l.into }) {
		return refuse(ReasonDetached, l.tree.Repo+" is on the loop's own branch "+l.into, there+" switch BRANCH, then land again")
	}
	if l.head, err = l.user.Text(ctx, nil, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err != nil {
		return refuse(ReasonDetached, "the branch "+l.into+" has no commit yet", there+" commit, then land again")
	}
	if unmerged, err := l.user.List(ctx, "ls-files", "-z", "--unmerged"); err != nil || len(unmerged) > 0 {
		return cmp.Or(err, error(refuse(ReasonUnderWay, "conflicts aren't solved in "+l.tree.Repo,
			"solve them ("+there+" status names them), then land again")))
	}
	l.onto = l.head
	l.user.signs(ctx)
	return nil
}

// lookAtTree takes what isn't committed in the loop's worktree into a commit that
// no branch has yet.
func (l *landing) lookAtTree(ctx context.Context) error {
	l.tip = l.at
	if !exists(filepath.Join(l.tree.Path, ".git")) {
		return nil // it was removed by hand; the branch is what there is
	}
	there := "git -C " + format.ShellWord(l.tree.Path)
	if what := underWayIn(l.tree.Path); what != "" {
		return refuse(ReasonUnderWay, what+" is under way in the loop's worktree "+l.tree.Path,
			"finish it ("+there+" status says how), then land again")
	}
	branch, err := l.own.Text(ctx, nil, "symbolic-ref", "--quiet", "HEAD")
	if err != nil || branch != "refs/heads/"+l.tree.Branch {
		where := cmp.Or(strings.TrimPrefix(branch, "refs/heads/"), "no branch")
		return refuse(ReasonStrayed, "the agent has left the loop's branch "+l.tree.Branch+": the worktree is on "+where,
			there+" switch -C "+format.ShellWord(l.tree.Branch)+" (which takes what is there for the loop's work), then land again",
			there+" switch "+format.ShellWord(l.tree.Branch)+" (which leaves it out)")
	}
	if l.left, err = lookForLeftover(ctx, l.own, l.scratch("leftover"), l.o.Skip); err != nil {
		return fmt.Errorf("looking for what isn't committed in %s: %w", l.tree.Path, err)
	}
	if len(l.left.paths) == 0 {
		return nil
	}
	message := cmp.Or(l.o.Words, "Work on "+l.tree.Branch)
	if only, err := l.user.Yes(ctx, "merge-base", "--is-ancestor", l.at, l.onto); err != nil {
		return err
	} else if only && l.o.Message != "" && l.o.How != HowSquash { // it is the one commit that lands
		message, l.o.Message = l.o.Message, ""
	}
	l.tip, err = l.user.commitInName(ctx, l.left.tree, message, l.at)
	return err
}

// scratch is a file of ours for a moment.
func (l *landing) scratch(name string) string { return filepath.Join(l.home, name) }

// wouldTouch refuses a landing that would touch what isn't committed in the user's
// work tree. Git decides; nothing is written but a copy of the index.
func (l *landing) wouldTouch(ctx context.Context, commit string) error {
	trial, err := freshIndex(ctx, l.user.Git, l.scratch("trial"))
	if err != nil {
		return err
	}
	same, inTheWay, err := trial.compare(ctx, l.head, commit)
	if err != nil {
		return err
	}
	if len(inTheWay) == 0 {
		if err := trial.Stage(ctx, same); err != nil {
			return err
		}
		_, err = trial.Run(ctx, nil, "read-tree", "-m", "-u", "-n", l.head, commit)
		if err == nil {
			return nil
		}
	}
	refused := refuse(ReasonUncommitted, "landing "+l.tree.Branch+" would touch what isn't committed in "+l.tree.Repo,
		"commit or move it (git -C "+format.ShellWord(l.tree.Repo)+" stash -u), then land again")
	if refused.Paths = inTheWay; len(inTheWay) == 0 {
		refused.Text += ": " + err.Error()
	}
	return refused
}

// fastForwardTo has git bring the user's branch and work tree to a commit. It refuses what
// would touch work that isn't committed, even where that came in this moment.
func (l *landing) fastForwardTo(ctx context.Context, commit string) error {
	if err := l.note(ctx, commit); err != nil {
		return err
	}
	if err := l.fastForward(ctx, commit, l.tree.Branch); err != nil {
		return errors.Join(err, l.forgetNote(ctx))
	}
	return nil
}

// fastForward has git move the user's branch and work tree; the reflog says what has landed.
func (l *landing) fastForward(ctx context.Context, commit, what string) error {
	trial, err := freshIndex(ctx, l.user.Git, l.scratch("trial"))
	if err != nil {
		return err
	}
	// Files that a cut-off landing has left as they would land aren't in its way.
	same, _, err := trial.compare(ctx, l.head, commit)
	if err == nil && len(same) > 0 {
		err = l.user.Stage(ctx, same)
	}
	if err == nil {
		// The user's settings for merges into the branch (--no-ff, say) would make a commit that was never
		// computed. git overwrites ignored files unless told otherwise, and they may be the user's only copy.
		_, err = l.user.With("GIT_REFLOG_ACTION=ralph-lsp land "+what).Run(ctx, nil,
			"-c", "branch."+l.into+".mergeOptions=", "merge", "--quiet", "--ff-only", "--no-overwrite-ignore", commit)
	}
	if err != nil {
		return fmt.Errorf("landing in %s: %w; nothing was landed", l.tree.Repo, err)
	}
	return nil
}
