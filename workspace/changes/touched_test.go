package changes

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func (f *folder) touched(want ...string) {
	f.t.Helper()
	list, err := f.Touched(context.Background())
	f.must(err)
	var got []string
	for _, t := range list {
		line := string(t.Status) + " " + t.Path
		if t.CutOff {
			line += " (cut off)"
		}
		got = append(got, line)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		f.t.Errorf("touched: %s", diff)
	}
}

func TestOnlyWhatTheLoopChangedIsTouched(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, begin func(t testing.TB, files ...string) *folder) {
		f := begin(t, "a", "1\n", "back", "1\n", "theirs", "1\n", "both", "1\n", "undone", "1\n", "t\t\"é\n", "1", "x", "1").loop()
		f.touched()
		f.after(1, "a", "2\n", "back", "2\n", "both", "2\n", "undone", "2\n", "t\t\"é\n", gone, "new/b", "1\n")
		f.must(os.Chmod(f.path("x"), 0o755))
		f.after(2, "back", "1\n")
		f.write("theirs", "2\n", "both", "3\n") // the user's
		f.start()
		f.undo(Undo{Iteration: 1, Paths: []string{"undone"}}, []string{"undone"})
		f.touched("modified a", "modified both", "added new/b", "deleted t\t\"é\n", "mode x")

		f.write("a", "1\n", "new/b", gone) // who takes it back by hand has done so
		f.start()
		f.after(3, "theirs", "3\n")
		f.touched("modified both", "deleted t\t\"é\n", "modified theirs", "mode x")
		f.after(4, "theirs", "2\n") // as the user had it
		f.touched("modified both", "deleted t\t\"é\n", "mode x")

		list, err := f.Touched(context.Background())
		f.must(err)
		if before, now, err := f.Found(context.Background(), list[0]); err != nil || string(before) != "1\n" || string(now) != "3\n" {
			t.Errorf("%q, %q, %v", before, now, err)
		}
		if before, now, err := f.Found(context.Background(), list[1]); err != nil || string(before) != "1" || now != nil {
			t.Errorf("%q, %q, %v", before, now, err)
		}
	})
}

// What an agent did whose loop was killed is no iteration's, and not only its user's.
func TestWhatARunThatWasCutOffChangedIsTouched(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, begin func(t testing.TB, files ...string) *folder) {
		for name, next := range map[string]func(*folder){
			"the loop goes on":   func(f *folder) { f.start() },
			"its user looks":     func(f *folder) { f.undo(Undo{Iteration: 1, DryRun: true}, []string{"b"}); f.start() },
			"it failed at first": func(f *folder) { f.must(f.Begin(2)); f.open("ralph-test"); f.start() },
		} {
			f := begin(t, "a", "1\n", "b", "1\n", "c", "1\n").loop()
			f.must(f.Begin(1))
			f.after(1, "b", "2\n")
			f.must(f.Begin(2))
			f.write("a", "2\n", "c", "2\n")
			f.open("ralph-test")
			next(f)
			f.touched("modified a (cut off)", "modified b", "modified c (cut off)")
			f.write("c", "3\n", "d", "the user's\n")
			f.start()
			f.touched("modified a (cut off)", "modified b", "modified c (cut off)")
			f.must(f.Begin(3))
			f.after(2, "a", "1\n", "c", "4\n")
			f.touched("modified b", "modified c")
			f.undo(Undo{Iteration: 1}, []string{"b"})
			if f.has("a", "1\n", "c", "4\n"); t.Failed() {
				t.Fatal(name)
			}
		}
	})
}

// In a folder below a repository's top, what changes elsewhere is no step of its.
func TestTouchedBelowTheTop(t *testing.T) {
	t.Parallel()
	f := repository(t, "sub/a", "1\n", "b", "1\n")
	f.dir = f.path("sub")
	f.loop()
	f.after(1, "a", "2\n", "../b", "2\n")
	f.after(2, "../b", "3\n")
	f.after(3, "../b", "4\n", "c", "1\n")
	f.touched("modified a", "added c")
}

// Who hides a file from git after the loop began doesn't hide it from us.
func TestAFileThatIsIgnoredLaterIsStillTouched(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, begin func(t testing.TB, files ...string) *folder) {
		f := begin(t, "a_test", "1\n", "b_test", "1\n").loop()
		f.write(".gitignore", "*_test\n")
		for _, hide := range [][]string{{"update-index", "--assume-unchanged", "b_test"}, {"rm", "-q", "--cached", "a_test"}} {
			_ = exec.Command("git", append([]string{"-C", f.dir}, hide...)...).Run() // where git knows them
		}
		f.after(1, "a_test", "2\n", "b_test", "2\n")
		f.touched("added .gitignore", "modified a_test", "modified b_test")
	})
}
