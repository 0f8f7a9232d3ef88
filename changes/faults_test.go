package changes

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// What a snapshot that fails half-way has seen is in the next one, and no undo
// goes over it.
func TestASnapshotThatFailsHalfWay(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, begin func(t testing.TB, files ...string) *folder) {
		f := begin(t, "a", "1\n").loop()
		f.after(1, "a", "2\n")
		f.write("a", "mine\n")
		f.must(os.Mkdir(filepath.Join(f.home, tipName+".new"), 0o700))
		if _, err := f.Start(context.Background()); err == nil {
			t.Fatal("it didn't fail")
		}
		f.must(os.Remove(filepath.Join(f.home, tipName+".new")))
		f.undo(Undo{Iteration: 1}, nil, "a: "+whyEdited)
		f.has("a", "mine\n")
		f.changed(Range{1, Latest}, "modified a +1 -1")
	})
}
