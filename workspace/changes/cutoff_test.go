package changes

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// cutOff is a loop whose first iteration changed b, and whose second one was cut off. The user saves c in an editor
// since, and d in none.
func cutOff(t *testing.T, begin func(t testing.TB, files ...string) *folder) *folder {
	f := begin(t, "a", "1\n", "b", "1\n", "c", "1\n", "d", "1\n").loop()
	f.must(f.Begin(1))
	f.after(1, "b", "2\n")
	f.must(Saved(f.Store, "b")) // nobody was cut off
	f.must(f.Begin(2))
	f.write("a", "2\n", "c", "2\n", "new", "2\n")
	f.open("ralph-test")
	f.write("c", "the user's\n", "d", "the user's\n")
	f.must(Saved(f.Store, "c"))
	return f
}

// What lies between the last snapshot and a run that was cut off is the loop's, but for what an editor has saved.
func TestWhatARunThatWasCutOffChangedIsUndone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, begin func(t testing.TB, files ...string) *folder) {
		f := cutOff(t, begin) // before the loop goes on
		f.undo(Undo{Since: 1}, []string{"a", "b", "d", "new"})
		f.has("a", "1\n", "b", "1\n", "c", "the user's\n", "d", "1\n", "new", gone)
		f.redo([]string{"a", "b", "d", "new"})
		f.has("a", "2\n", "b", "2\n", "c", "the user's\n", "d", "the user's\n", "new", "2\n")

		f = cutOff(t, begin) // behind that
		if taken := f.start(); taken.Files != 4 {
			t.Errorf("%d files changed", taken.Files)
		}
		f.changed(Range{1, 2}, "modified a +1 -1", "modified d +1 -1", "added new +1 -0")
		f.must(f.Begin(3))
		f.after(3, "c", "3\n", "e", "3\n")
		f.must(Saved(f.Store, "c"))
		f.changed(Range{2, 3}, "modified c +1 -1", "added e +1 -0")
		f.undo(Undo{Iteration: 2}, []string{"a", "d", "new"})
		f.has("a", "1\n", "b", "2\n", "c", "3\n", "d", "1\n", "e", "3\n")
		f.undo(Undo{Since: 3}, []string{"c", "e"})
		f.has("c", "the user's\n", "e", gone)
	})
}

// A program that told no number of the iteration left it to nobody whose work that is.
func TestWhatAnOlderProgramWasCutOffAtIsNobodysIteration(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, begin func(t testing.TB, files ...string) *folder) {
		f := cutOff(t, begin)
		f.must(os.Chtimes(filepath.Join(f.home, "agent"), time.Time{}, time.Now()))
		f.undo(Undo{Since: 1}, []string{"b"})
		f.has("a", "2\n", "c", "the user's\n", "d", "the user's\n")
		f.touched("modified a (cut off)", "modified d (cut off)", "added new (cut off)")
	})
}
