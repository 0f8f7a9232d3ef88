package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// loopTree is a tree in which a loop has worked: a commit of its own that changes a,
// and a new file that isn't committed.
func (w *work) loopTree(title string) Tree {
	w.Helper()
	t := w.add(Options{Title: title}).Tree
	w.writeTo(t.Path, "a", "one\nmore\n")
	w.gitIn(t.Path, "commit", "-qam", "The loop's commit")
	w.writeTo(t.Path, "new file", "new\n")
	return t
}

func (w *work) writeTo(dir, name, text string) {
	w.Helper()
	rel, err := filepath.Rel(w.dir, filepath.Join(dir, name))
	w.must(err)
	w.write(rel, text)
}

func (w *work) land(t Tree, o LandOptions) Landed {
	w.Helper()
	done, err := Land(context.Background(), t, o)
	w.must(err)
	return done
}

func (w *work) landingRefused(t Tree, o LandOptions, why Reason) *Refused {
	w.Helper()
	_, err := Land(context.Background(), t, o)
	refused, ok := errors.AsType[*Refused](err)
	if !ok || refused.Reason != why {
		w.Fatalf("landing says %v, want a refusal for %s", err, why)
	}
	if len(refused.Fix) == 0 {
		w.Errorf("%q says nothing of what to do", refused.Text)
	}
	return refused
}

// photo is all that a refusal must not change: refs and reflogs, index, HEAD, and
// all files.
func (w *work) photo() string {
	w.Helper()
	var b strings.Builder
	note := func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == "objects" {
			return fs.SkipDir
		}
		info, err := d.Info()
		w.must(err)
		fmt.Fprintf(&b, "%s %s", path, info.Mode())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			w.must(err)
			fmt.Fprintf(&b, " %q", data)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			target, _ := os.Readlink(path)
			b.WriteString(" " + target)
		}
		b.WriteByte('\n')
		return nil
	}
	entries, err := os.ReadDir(w.dir)
	w.must(err)
	for _, entry := range entries { // the state folder is ours
		if strings.HasPrefix(entry.Name(), "app") {
			w.must(filepath.WalkDir(filepath.Join(w.dir, entry.Name()), note))
		}
	}
	return b.String()
}

// isClean says that nothing of a tree is left, and git finds nothing wrong.
func (w *work) isClean(t Tree) {
	w.Helper()
	if out := w.git("worktree", "list", "--porcelain"); strings.Count(out, "worktree ") != 1 {
		w.Errorf("git knows of\n%s", out)
	}
	if out := w.git("fsck", "--no-dangling", "--no-progress"); out != "" {
		w.Errorf("git fsck says %s", out)
	}
	for _, path := range []string{t.Path, t.Admin, filepath.Dir(t.Path)} {
		if exists(path) {
			w.Errorf("%s is still there", path)
		}
	}
	if refs := w.git("for-each-ref", "refs/heads/ralph", "refs/ralph/landing"); refs != "" {
		w.Errorf("refs are left: %s", refs)
	}
	if entries, _ := os.ReadDir(recordsOf(filepath.Join(w.repo, ".git"))); slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() != "lock" && e.Name() != pastName }) {
		w.Errorf("records are left: %v", entries)
	}
}

func (w *work) landed(name, want string) {
	w.Helper()
	data, err := os.ReadFile(filepath.Join(w.repo, name))
	if err != nil || string(data) != want {
		w.Errorf("%s has %q (%v), want %q", name, data, err, want)
	}
}

func TestLandingBringsCommitsAndWhatIsNotCommitted(t *testing.T) {
	w := newWork(t)
	tree := w.loopTree("Fix it")
	done := w.land(tree, LandOptions{Words: "Add a file\n\nAs asked."})
	if !done.Gone || done.Into != "main" || done.Commits != 2 || done.Files != 2 || len(done.Leftover) != 1 {
		t.Errorf("%+v", done)
	}
	w.landed("a", "one\nmore\n")
	w.landed("new file", "new\n")
	if log := w.git("log", "--format=%an %s|%P", "-2"); !strings.HasPrefix(log, "Ann Add a file|") || strings.Contains(log, " Ann") {
		t.Errorf("the log is %q", log)
	}
	if status := w.git("status", "--porcelain"); status != "" {
		t.Errorf("git status says %q", status)
	}
	if reflog := w.git("reflog", "-1"); !strings.Contains(reflog, "ralph-lsp land ralph/fix-it") {
		t.Errorf("the reflog says %q", reflog)
	}
	w.isClean(tree)
}

// The user went on meanwhile, and has work that isn't committed in other files.
func TestLandingLeavesTheUsersWorkAlone(t *testing.T) {
	for _, how := range []How{HowMerge, HowSquash, HowRebase} {
		t.Run(string(how), func(t *testing.T) {
			w := newWork(t)
			tree := w.loopTree("Fix it")
			w.write("app/other", "other\n", "app/sub/b", "two\nmine\n")
			w.git("add", "other")
			w.git("commit", "-qm", "Meanwhile")
			w.write("app/staged", "staged\n", "app/note", "not known to git\n")
			w.git("add", "staged")
			done := w.land(tree, LandOptions{How: how})
			if !done.Gone {
				t.Errorf("%+v", done)
			}
			w.landed("a", "one\nmore\n")
			w.landed("new file", "new\n")
			w.landed("sub/b", "two\nmine\n")
			if status := w.git("status", "--porcelain"); status != "A  staged\n M sub/b\n?? note\n" && status != " M sub/b\nA  staged\n?? note\n" {
				t.Errorf("git status says %q", status)
			}
			want := map[How]string{HowMerge: "3 2", HowSquash: "1 1", HowRebase: "2 1"}[how]
			parents := strings.Fields(w.git("rev-list", "--parents", "-1", "HEAD"))
			if got := fmt.Sprint(done.Commits, len(parents)-1); strings.ReplaceAll(got, " ", " ") != want {
				t.Errorf("%s commits and parents, want %s", got, want)
			}
			w.isClean(tree)
		})
	}
}

func TestRebaseKeepsAuthorsAndMessages(t *testing.T) {
	w := newWork(t)
	tree := w.add(Options{Title: "x"}).Tree
	w.writeTo(tree.Path, "c", "c\n")
	w.gitIn(tree.Path, "add", "c")
	w.gitIn(tree.Path, "commit", "-qm", "Subject\n\nBody", "--author", "Bob <bob@example.com>", "--date", "2001-02-03T04:05:06+0700")
	w.git("commit", "-q", "--allow-empty", "-m", "Meanwhile")
	w.land(tree, LandOptions{How: HowRebase})
	if got := w.git("log", "-1", "--format=%an %ae %aI %cn %B"); got != "Bob bob@example.com 2001-02-03T04:05:06+07:00 Ann Subject\n\nBody\n\n" {
		t.Errorf("%q", got)
	}
}

func TestTheMessageIsThatOfWhatLandingMakes(t *testing.T) {
	for name, c := range map[string]struct {
		o    LandOptions
		want string
	}{
		"a merge":    {LandOptions{Message: "Mine"}, "Mine"},
		"a squash":   {LandOptions{How: HowSquash, Message: "Mine"}, "Mine"},
		"last words": {LandOptions{How: HowSquash, Words: "Theirs"}, "Theirs"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWork(t)
			w.land(w.loopTree("x"), c.o)
			if got := strings.TrimSpace(w.git("log", "-1", "--format=%s")); got != c.want {
				t.Errorf("%q", got)
			}
		})
	}
	w := newWork(t)
	tree := w.add(Options{Title: "x"}).Tree
	w.writeTo(tree.Path, "c", "c\n")
	if done := w.land(tree, LandOptions{Message: "Mine"}); done.Commits != 1 {
		t.Errorf("one commit takes the message: %+v", done)
	}
	if got := strings.TrimSpace(w.git("log", "-1", "--format=%s")); got != "Mine" {
		t.Errorf("%q", got)
	}
}

func TestADryRunChangesNothing(t *testing.T) {
	w := newWork(t)
	tree := w.loopTree("Fix it")
	before := w.photo()
	done := w.land(tree, LandOptions{DryRun: true})
	if done.Commits != 2 || done.Files != 2 || done.Gone || done.Into != "main" {
		t.Errorf("%+v", done)
	}
	if d, err := Discard(context.Background(), tree, nil, true); err != nil || len(d.Commits) != 1 || len(d.Leftover) != 1 {
		t.Errorf("%+v %v", d, err)
	}
	if after := w.photo(); after != before {
		t.Errorf("it changed something:\n%s\n%s", before, after)
	}
}

// No hook runs: the loop may have written it.
func TestNoHookRuns(t *testing.T) {
	w := newWork(t)
	w.git("config", "core.hooksPath", ".hooks")
	tree := w.loopTree("Fix it")
	for _, hook := range []string{"post-merge", "pre-commit", "commit-msg", "post-checkout", "reference-transaction", "pre-merge-commit", "post-commit", "post-rewrite"} {
		script := "#!/bin/sh\ntouch '" + w.dir + "/ran-" + hook + "'\n"
		for _, dir := range []string{".git/hooks", ".hooks"} {
			w.write("app/"+dir+"/"+hook, script)
			w.must(os.Chmod(filepath.Join(w.repo, dir, hook), 0o755))
		}
		w.writeTo(tree.Path, ".landed-hooks/"+hook, script)
	}
	w.land(tree, LandOptions{How: HowSquash})
	if ran, _ := filepath.Glob(filepath.Join(w.dir, "ran-*")); len(ran) > 0 {
		t.Errorf("hooks ran: %v", ran)
	}
}

func TestWhatTheUserHasInGitSettingsDoesNotChangeALanding(t *testing.T) {
	w := newWork(t)
	for _, kv := range [][2]string{{"merge.ff", "false"}, {"merge.autoStash", "true"}, {"branch.main.mergeOptions", "--squash --no-commit"}, {"pull.rebase", "true"}, {"submodule.recurse", "true"}, {"core.logAllRefUpdates", "false"}} {
		w.git("config", kv[0], kv[1])
	}
	tree := w.loopTree("Fix it")
	w.write("app/sub/b", "mine\n")
	if done := w.land(tree, LandOptions{}); !done.Gone || done.Commits != 2 {
		t.Errorf("%+v", done)
	}
	w.landed("sub/b", "mine\n")
	if stash := w.git("stash", "list"); stash != "" {
		t.Errorf("there is a stash: %s", stash)
	}
}

func TestSignedWhereTheUserSigns(t *testing.T) {
	w := newWork(t)
	w.write("sign", "#!/bin/sh\ncat >/dev/null; echo '[GNUPG:] SIG_CREATED ' >&2; printf -- '-----BEGIN PGP SIGNATURE-----\\n\\nx\\n-----END PGP SIGNATURE-----\\n'\n")
	w.must(os.Chmod(filepath.Join(w.dir, "sign"), 0o755))
	w.git("config", "--global", "gpg.program", filepath.Join(w.dir, "sign"))
	tree := w.loopTree("Fix it")
	w.git("config", "commit.gpgSign", "true")
	w.land(tree, LandOptions{How: HowSquash})
	if commit := w.git("cat-file", "commit", "HEAD"); !strings.Contains(commit, "gpgsig ") {
		t.Errorf("it isn't signed:\n%s", commit)
	}
}

// Who the user is may stand in a configuration that a variable names.
func TestTheUserIsKnownByAConfigurationElsewhere(t *testing.T) {
	w := newWork(t)
	tree := w.loopTree("Fix it")
	w.git("config", "--unset", "user.name")
	w.git("config", "--unset", "user.email")
	w.landingRefused(tree, LandOptions{How: HowSquash}, ReasonNobody)
	w.write("elsewhere", "[user]\nname = Eve\nemail = eve@example.com\n")
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(w.dir, "elsewhere"))
	w.land(tree, LandOptions{How: HowSquash})
	if who := w.git("log", "-1", "--format=%an %ce"); who != "Eve eve@example.com\n" {
		t.Errorf("it is by %s", who)
	}
}

func TestModesLinksAndRenamesLand(t *testing.T) {
	w := newWork(t)
	w.write("app/long", strings.Repeat("a line of a long file\n", 30))
	w.git("add", "-A")
	w.git("commit", "-qm", "long")
	tree := w.add(Options{Title: "x"}).Tree
	w.gitIn(tree.Path, "mv", "long", "renamed")
	w.must(os.Chmod(filepath.Join(tree.Path, "a"), 0o755))
	w.must(os.Symlink("a", filepath.Join(tree.Path, "link")))
	w.write("app/long", strings.Repeat("a line of a long file\n", 30)+"mine\n")
	w.git("commit", "-qam", "mine")
	w.land(tree, LandOptions{})
	w.landed("renamed", strings.Repeat("a line of a long file\n", 30)+"mine\n")
	if info, err := os.Stat(filepath.Join(w.repo, "a")); err != nil || info.Mode()&0o111 == 0 {
		t.Errorf("a isn't executable: %v", err)
	}
	if target, _ := os.Readlink(filepath.Join(w.repo, "link")); target != "a" {
		t.Errorf("the link leads to %q", target)
	}
	if status := w.git("status", "--porcelain"); status != "" {
		t.Errorf("git status says %q", status)
	}
}

func TestNothingToLand(t *testing.T) {
	for name, do := range map[string]func(w *work) Tree{
		"no work":                  func(w *work) Tree { return w.add(Options{Title: "x"}).Tree },
		"merged by hand":           func(w *work) Tree { return w.merged("merge", "-q") },
		"merged by hand, squashed": func(w *work) Tree { return w.merged("merge", "-q", "--squash") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWork(t)
			tree := do(w)
			at := w.git("rev-parse", "HEAD")
			if done := w.land(tree, LandOptions{}); !done.Already || !done.Gone || w.git("rev-parse", "HEAD") != at {
				t.Errorf("%+v", done)
			}
			w.isClean(tree)
		})
	}
}

func (w *work) merged(args ...string) Tree {
	tree := w.add(Options{Title: "x"}).Tree
	w.writeTo(tree.Path, "a", "one\nmore\n")
	w.gitIn(tree.Path, "commit", "-qam", "work")
	w.git(append(args, tree.Branch)...)
	if strings.Contains(w.git("status", "--porcelain"), "M  a") {
		w.git("commit", "-qm", "squashed")
	}
	return tree
}

func TestAWorktreeThatWasRemovedByHandLandsFromItsBranch(t *testing.T) {
	w := newWork(t)
	tree := w.loopTree("Fix it")
	w.must(os.RemoveAll(tree.Path))
	lost := Lost(w.repo)
	if len(lost) != 1 || lost[0].Branch != tree.Branch {
		t.Fatalf("%+v", lost)
	}
	if done := w.land(lost[0], LandOptions{}); done.Commits != 1 || !done.Gone {
		t.Errorf("%+v", done)
	}
	w.landed("a", "one\nmore\n")
	w.isClean(tree)
}

func TestWhatNoCommitCanKeepStays(t *testing.T) {
	w := newWork(t)
	tree := w.loopTree("Fix it")
	w.must(os.MkdirAll(filepath.Join(tree.Path, "nested"), 0o777))
	w.gitIn(filepath.Join(tree.Path, "nested"), "init", "-q")
	w.writeTo(tree.Path, "nested/x", "x\n")
	done := w.land(tree, LandOptions{})
	if done.Gone || !strings.Contains(done.Stays, "nested") {
		t.Errorf("%+v", done)
	}
	w.landed("new file", "new\n")
	if !exists(filepath.Join(tree.Path, "nested/x")) {
		t.Error("the nested repository is gone")
	}
	if d, err := Discard(context.Background(), tree, nil, false); err != nil || d.Stays == "" {
		t.Errorf("%+v %v", d, err)
	}
	w.must(os.RemoveAll(filepath.Join(tree.Path, "nested")))
	if again := w.land(tree, LandOptions{}); !again.Already || !again.Gone {
		t.Errorf("%+v", again)
	}
	w.isClean(tree)
}

func TestALockedWorktreeStays(t *testing.T) {
	w := newWork(t)
	tree := w.loopTree("Fix it")
	w.git("worktree", "lock", tree.Path)
	if done := w.land(tree, LandOptions{}); done.Gone || !strings.Contains(done.Stays, "unlock") {
		t.Errorf("%+v", done)
	}
}

func TestKeepKeepsTheTreeWithAllCommitted(t *testing.T) {
	w := newWork(t)
	tree := w.loopTree("Fix it")
	if done := w.land(tree, LandOptions{Keep: true}); done.Gone || done.Stays != "" {
		t.Errorf("%+v", done)
	}
	if status := w.gitIn(tree.Path, "status", "--porcelain"); status != "" {
		t.Errorf("git status says %q", status)
	}
	w.writeTo(tree.Path, "later", "later\n")
	if done := w.land(tree, LandOptions{}); done.Commits != 1 || !done.Gone {
		t.Errorf("%+v", done)
	}
	w.isClean(tree)
}

// The agent may leave a lock of git's behind when it is ended.
func TestALockInTheLoopsWorktreeIsNotInTheWay(t *testing.T) {
	w := newWork(t)
	tree := w.loopTree("Fix it")
	w.must(os.WriteFile(filepath.Join(tree.Admin, "index.lock"), nil, 0o666))
	w.land(tree, LandOptions{})
	w.isClean(tree)
}

func TestABranchThatWasThereBeforeStays(t *testing.T) {
	w := newWork(t)
	w.git("branch", "feature")
	tree := w.add(Options{Branch: "feature"}).Tree
	w.writeTo(tree.Path, "c", "c\n")
	w.land(tree, LandOptions{})
	w.landed("c", "c\n")
	if w.git("for-each-ref", "refs/heads/feature") == "" {
		t.Error("the user's branch is gone")
	}
	w.isClean(tree)
}

func TestWhatALoopTookAlongDoesNotLand(t *testing.T) {
	w := newWork(t)
	w.write("app/sub/b", "two\nmine\n")
	tree := w.add(Options{Title: "x", WithChanges: true}).Tree
	w.writeTo(tree.Path, "c", "c\n")
	refused := w.landingRefused(tree, LandOptions{}, ReasonElsewhere)
	if !strings.Contains(refused.Error(), "--squash") {
		t.Errorf("%v", refused)
	}
	w.land(tree, LandOptions{How: HowSquash})
	w.landed("c", "c\n")
	if status := w.git("status", "--porcelain"); status != " M sub/b\n" {
		t.Errorf("git status says %q", status)
	}
	w.isClean(tree)
}

func TestTwoLandingsAtOnceBothLand(t *testing.T) {
	w := newWork(t)
	trees := []Tree{w.add(Options{Title: "x"}).Tree, w.add(Options{Title: "y"}).Tree}
	var group sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		tree := trees[i%2]
		w.writeTo(tree.Path, "from "+tree.Branch[len("ralph/"):], "x\n")
		group.Go(func() { _, errs[i] = Land(context.Background(), tree, LandOptions{}) })
	}
	group.Wait()
	gone := 0
	for _, err := range errs {
		if errors.Is(err, ErrGone) {
			gone++
		} else if err != nil {
			t.Error(err)
		}
	}
	if gone != 2 {
		t.Errorf("%d of 4 landings find nothing, want 2", gone)
	}
	w.landed("from x", "x\n")
	w.landed("from y", "x\n")
	w.isClean(trees[0])
}

func TestSkippedPathsDoNotLand(t *testing.T) {
	w := newWork(t)
	tree := w.loopTree("Fix it")
	w.writeTo(tree.Path, ".pi/ralph-loop.local.md", "state\n")
	done := w.land(tree, LandOptions{Skip: []string{".pi/ralph-loop.local."}})
	if !done.Gone || exists(filepath.Join(w.repo, ".pi")) {
		t.Errorf("%+v", done)
	}
}
