package loopstate

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// counted claims an iteration of the loop of a file with this text, which was saved long ago.
func counted(t *testing.T, text string, iteration int) *File {
	t.Helper()
	f := open(t, t.TempDir())
	write(t, f, text)
	longAgo(t, f)
	drivesIt(t, f)
	must.OK(t, must.Err(f.Claim(func(s *State) error { s.Iteration = iteration; return nil })))
	return f
}

func longAgo(t *testing.T, f *File) {
	t.Helper()
	then := time.Now().Add(-time.Hour)
	must.OK(t, os.Chtimes(f.Path(), then, then))
}

func TestTheFileTellsWhichIterationBegins(t *testing.T) {
	const rest = "max_iterations: 0\nmine: [1, \n---\n\nGo.\niteration: 1\n"
	for _, c := range []struct {
		name, line, want string
		iteration        int
	}{
		{"as wide", "iteration: 1\n", "iteration: 2\n", 2},
		{"wider", "iteration: 9\n", "iteration: 10\n", 10},
		{"narrower", "iteration: 100\n", "iteration: 3\n", 3},
		{"with a comment", "iteration: 1   # so far: 1\n", "iteration: 2   # so far: 1\n", 2},
		{"in quotes", "iteration: \"9\"\n", "iteration: \"12\"\n", 12},
		{"after blanks", "iteration  :\t1  \r\n", "iteration  :\t7  \r\n", 7},
		{"with a quoted key", "\"iteration\": 1\n", "\"iteration\": 5\n", 5},
		{"the same", "iteration: 4\n", "iteration: 4\n", 4},
		{"not there", "# iteration: 1\n", "# iteration: 1\n", 2},
		{"without a value", "iteration:\n", "iteration:\n", 2},
		{"null", "iteration: null\n", "iteration: null\n", 2},
		{"written otherwise", "iteration: +1\n", "iteration: +1\n", 2},
		{"in lines below", "iteration: >-\n  1\n", "iteration: >-\n  1\n", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			const before = "\uFEFF--- \nactive: true # yes\n"
			f := counted(t, before+c.line+rest, c.iteration)
			wantText(t, f, before+c.want+rest)
		})
	}
}

// An editor that has the file open compares its time when it saves, and a link or another name of the file stays one.
func TestTheFileThatTellsTheIterationIsTheOneThatItWas(t *testing.T) {
	for _, iteration := range []int{2, 12} {
		f := open(t, t.TempDir())
		write(t, f, "---\niteration: 1\n---\nGo.")
		longAgo(t, f)
		drivesIt(t, f)
		before, _ := os.Stat(f.Path())
		must.OK(t, must.Err(f.Claim(func(s *State) error { s.Iteration = iteration; return nil })))
		after, err := os.Stat(f.Path())
		if err != nil || !after.ModTime().Equal(before.ModTime()) {
			t.Errorf("iteration %d: saved at %v, %v, want %v", iteration, after.ModTime(), err, before.ModTime())
		}
		if isSame := os.SameFile(before, after); isSame != (iteration < 10) {
			t.Errorf("iteration %d: the same file: %t", iteration, isSame)
		}
	}
}

// A save comes before the number, which the next iteration sets.
func TestASaveMeanwhileComesBeforeTheIteration(t *testing.T) {
	for how, edit := range edits {
		t.Run(how, func(t *testing.T) {
			f := open(t, t.TempDir())
			write(t, f, "---\nloop_id: counts\niteration: 1\n---\nGo.")
			drivesIt(t, f)
			const saved = "---\nloop_id: counts\niteration: 1 # mine\n---\nGo. On."
			path, _ := f.realPath(Name)
			doc, err := Parse([]byte("---\nloop_id: counts\niteration: 1\n---\nGo."))
			if err != nil || edit(f.Path(), saved) != nil {
				t.Fatal(err)
			}
			look{path, []byte("---\nloop_id: counts\niteration: 1\n---\nGo."), doc}.count(f, 2)
			wantText(t, f, saved)
			must.OK(t, must.Err(f.Claim(func(s *State) error { s.Iteration = 3; return nil })))
			wantText(t, f, strings.Replace(saved, "1", "3", 1))
		})
	}
}

// A number that is wider needs a new file, which could lose the rest of a save.
func TestAFileThatWasSavedJustNowIsNotReplacedForItsIteration(t *testing.T) {
	const text = "---\niteration: 9\n---\nGo."
	f := open(t, t.TempDir())
	write(t, f, text)
	drivesIt(t, f)
	claim := func(iteration int) {
		t.Helper()
		must.OK(t, must.Err(f.Claim(func(s *State) error { s.Iteration = iteration; return nil })))
	}
	claim(8)
	now := time.Now()
	must.OK(t, os.Chtimes(f.Path(), now, now))
	claim(10)
	wantText(t, f, strings.Replace(text, "9", "8", 1))
	longAgo(t, f)
	claim(11)
	wantText(t, f, strings.Replace(text, "9", "11", 1))
}
