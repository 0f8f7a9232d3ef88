package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func TestDiscardKeepsAWayBack(t *testing.T) {
	w := newWork(t)
	tree := w.loopTree("Fix it")
	before := w.git("rev-parse", "HEAD")
	done, err := Discard(context.Background(), tree, nil, false)
	if err != nil || done.Stays != "" || done.Ref != "refs/ralph/discarded/fix-it" || len(done.Commits) != 1 || len(done.Leftover) != 1 {
		t.Fatalf("%+v %v", done, err)
	}
	w.isClean(tree)
	if w.git("rev-parse", "HEAD") != before || w.git("status", "--porcelain") != "" {
		t.Error("the user's tree has changed")
	}
	if got := w.git("show", done.Ref+":new file"); got != "new\n" {
		t.Errorf("%q", got)
	}
	second := w.loopTree("Fix it")
	w.writeTo(second.Path, "a", "else\n")
	if done, err := Discard(context.Background(), second, nil, false); err != nil || done.Ref != "refs/ralph/discarded/fix-it-2" {
		t.Errorf("%+v %v", done, err)
	}
	third := w.add(Options{Title: "nothing"}).Tree
	if done, err := Discard(context.Background(), third, nil, false); err != nil || done.Ref != "" || done.Stays != "" {
		t.Errorf("%+v %v", done, err)
	}
}

// The agent's own branch in the worktree is no way to lose its commits.
func TestDiscardKeepsWhatWasDoneOnNoBranch(t *testing.T) {
	w := newWork(t)
	tree := w.add(Options{Title: "x"}).Tree
	w.gitIn(tree.Path, "checkout", "-q", "--detach")
	w.writeTo(tree.Path, "c", "c\n")
	w.gitIn(tree.Path, "add", "c")
	w.gitIn(tree.Path, "commit", "-qm", "on no branch")
	done, err := Discard(context.Background(), tree, nil, false)
	if err != nil || done.Stays != "" || done.Ref == "" {
		t.Fatalf("%+v %v", done, err)
	}
	if got := w.git("show", done.Ref+":c"); got != "c\n" {
		t.Errorf("%q", got)
	}
}

// What is left of trees is found, and goes one by one; while there is a tree, its books stay.
func TestWhatTreesLeaveCanBeRemoved(t *testing.T) {
	w := newWork(t)
	named := filepath.Join(w.dir, "app [old]") // a name that is no pattern here
	w.must(os.Rename(w.repo, named))
	w.repo = named
	tree := w.loopTree("Fix it")
	if left := leavings(t, w); len(left) != 0 {
		t.Fatalf("left of a tree that is there: %v", left)
	}
	must.OK(t, must.Err(Discard(t.Context(), tree, nil, false)))
	books := recordsOf(CommonDir(w.repo))
	left := leavings(t, w)
	if len(left) != 2 || left[0].Path != "refs/ralph/discarded/fix-it" || left[1].Path != books || time.Since(left[0].At).Abs() > time.Hour || time.Since(left[1].At).Abs() > time.Hour {
		t.Fatalf("%+v", left)
	}
	second := w.loopTree("Mend it")
	if now := leavings(t, w); len(now) != 1 {
		t.Errorf("beside a tree: %+v", now)
	}
	w.writeTo(books, "strange", "a")
	if err := left[1].Forget(t.Context()); err == nil {
		t.Error("nothing is said of what isn't ours")
	}
	must.OK(t, os.Remove(filepath.Join(books, "strange")))
	must.OK(t, must.Err(Discard(t.Context(), second, nil, false)))
	w.writeTo(books, "begun.json", "{}")
	for _, l := range leavings(t, w) {
		if err := l.Forget(t.Context()); err != nil {
			t.Errorf("%s: %v", l.Path, err)
		}
	}
	if !exists(filepath.Join(books, pastName)) || w.git("for-each-ref", "refs/ralph") != "" {
		t.Error("books of a tree that is made went, or a ref is left")
	}
	if err := errors.Join(os.Remove(filepath.Join(books, "begun.json")), leavings(t, w)[0].Forget(t.Context())); err != nil || exists(books) {
		t.Errorf("the books are left: %v", err)
	}
	if left, err := Leavings(t.Context(), t.TempDir()); err != nil || left != nil {
		t.Errorf("of no repository: %v, %v", left, err)
	}
}

func leavings(t *testing.T, w *work) []Leaving {
	t.Helper()
	all, err := Leavings(t.Context(), w.repo)
	must.OK(t, err)
	return all
}
