package worktree

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestChangesAreWhatWouldLandAndNothingLands(t *testing.T) {
	w := newWork(t)
	tree := w.loopTree("Fix it")
	w.writeTo(tree.Path, "data", "\x00")
	w.writeTo(tree.Path, "own", "the loop's file\n")
	w.write("app/b", "the user's\n") // is of no interest, and in no way
	w.git("add", "b")
	w.git("commit", "-qm", "The user's commit")
	w.write("app/a", "not committed\n")
	before := w.photo()
	for range 2 {
		got, err := Changes(context.Background(), tree, []string{"own"})
		w.must(err)
		if want := []Change{{"a", 1, 0, false}, {"data", 0, 0, true}, {"new file", 1, 0, false}}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	if after := w.photo(); after != before {
		t.Errorf("it changed\n%s\nto\n%s", before, after)
	}
	w.must(os.RemoveAll(tree.Path))
	if got, err := Changes(context.Background(), tree, nil); err != nil || !slices.Equal(got, []Change{{"a", 1, 0, false}}) {
		t.Errorf("of a branch alone: %v, %v", got, err)
	}
	w.git("checkout", "-q", "--orphan", "other")
	w.git("commit", "-qm", "nothing in common")
	if got, err := Changes(context.Background(), tree, nil); err == nil || !strings.Contains(err.Error(), "have no commit in common") {
		t.Errorf("of another history: %v, %v", got, err)
	}
}
