package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestCommitsAreTheUsers(t *testing.T) {
	w := newWork(t)
	w.git("config", "commit.gpgSign", "true")
	w.git("config", "gpg.program", "false")
	w.write("app/.git/hooks/pre-commit", "#!/bin/sh\nexit 1\n")
	w.must(os.Chmod(filepath.Join(w.repo, ".git/hooks/pre-commit"), 0o755))
	tree := w.add(Options{Title: "x", Commit: true}).Tree
	if found, ok := Find(tree.Path); !ok || !found.Commits {
		t.Errorf("it isn't known that iterations are committed: %+v", found)
	}
	w.writeTo(tree.Path, "c", "c\n")
	w.writeTo(tree.Path, ".pi/ours", "x\n")
	w.must(os.Remove(filepath.Join(tree.Path, "a")))
	commit := func() int {
		t.Helper()
		n, err := tree.Commit(context.Background(), "Done\n\nAll of it.", []string{".pi/"})
		w.must(err)
		return n
	}
	if n := commit(); n != 2 {
		t.Errorf("%d files, want 2", n)
	}
	if got := w.gitIn(tree.Path, "log", "-1", "--format=%an %cn %B", "--name-status"); got != "Ann Ann Done\n\nAll of it.\n\n\nD\ta\nA\tc\n" {
		t.Errorf("%q", got)
	}
	if status := w.gitIn(tree.Path, "status", "--porcelain"); status != "?? .pi/\n" {
		t.Errorf("git status says %q", status)
	}
	if n := commit(); n != 0 {
		t.Errorf("%d files when nothing has changed", n)
	}
}

func TestACommitIsNotMadeElsewhere(t *testing.T) {
	for name, c := range map[string]struct {
		why Reason
		do  func(w *work, tree Tree)
	}{
		"another branch": {ReasonStrayed, func(w *work, tree Tree) { w.gitIn(tree.Path, "checkout", "-qb", "mine") }},
		"no branch":      {ReasonStrayed, func(w *work, tree Tree) { w.gitIn(tree.Path, "checkout", "-q", "--detach") }},
		"nobody":         {ReasonNobody, func(w *work, tree Tree) { w.git("config", "--unset", "user.email") }},
		"a merge": {ReasonUnderWay, func(w *work, tree Tree) {
			w.write("app/a", "main\n")
			w.git("commit", "-qam", "main")
			w.writeTo(tree.Path, "a", "loop\n")
			w.gitIn(tree.Path, "commit", "-qam", "loop")
			_ = fails(w, tree.Path, "merge", "main")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWork(t)
			tree := w.add(Options{Title: "x"}).Tree
			w.writeTo(tree.Path, "c", "c\n")
			c.do(w, tree)
			before := w.photo()
			_, err := tree.Commit(context.Background(), "x", nil)
			if refused, ok := errors.AsType[*Refused](err); !ok || refused.Reason != c.why {
				t.Errorf("%v, want a refusal for %s", err, c.why)
			}
			if after := w.photo(); after != before {
				t.Errorf("it changed something:\n%s\n%s", before, after)
			}
		})
	}
}
