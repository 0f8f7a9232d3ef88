package worktree

import (
	"context"
	"testing"
)

func TestDiscardKeepsAWayBack(t *testing.T) {
	w := newWork(t)
	tree := w.loopTree("Fix it")
	before := w.git("rev-parse", "HEAD")
	done, err := Discard(context.Background(), tree, DiscardOptions{})
	if err != nil || !done.Gone || done.Ref != "refs/ralph/discarded/fix-it" || len(done.Commits) != 1 || len(done.Leftover) != 1 {
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
	if done, err := Discard(context.Background(), second, DiscardOptions{}); err != nil || done.Ref != "refs/ralph/discarded/fix-it-2" {
		t.Errorf("%+v %v", done, err)
	}
	third := w.add(Options{Title: "nothing"}).Tree
	if done, err := Discard(context.Background(), third, DiscardOptions{}); err != nil || done.Ref != "" || !done.Gone {
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
	done, err := Discard(context.Background(), tree, DiscardOptions{})
	if err != nil || !done.Gone || done.Ref == "" {
		t.Fatalf("%+v %v", done, err)
	}
	if got := w.git("show", done.Ref+":c"); got != "c\n" {
		t.Errorf("%q", got)
	}
}
