package changes

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// states makes the snapshots of iterations and says which of the loop's states each
// left: the number of the first iteration that had it.
func (f *folder) states(iterations ...func()) (first []int) {
	f.t.Helper()
	var seen []State
	for n, work := range iterations {
		work()
		now := f.after(n + 1).State
		at := n
		for i, before := range seen {
			if before == now {
				at = i
				break
			}
		}
		seen, first = append(seen, now), append(first, at+1)
	}
	return first
}

func (f *folder) became(want []int, iterations ...func()) {
	f.t.Helper()
	got := f.states(iterations...)
	for i := range want {
		if got[i] != want[i] {
			f.t.Errorf("the iterations left the states %v, want %v", got, want)
			return
		}
	}
}

func TestAStateComesAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, begin func(t testing.TB, files ...string) *folder) {
		f := begin(t, "a", "1\n").loop()
		write := func(files ...string) func() { return func() { f.write(files...) } }
		f.became([]int{1, 2, 1, 1, 2, 6}, write(), write("a", "2\n"), write("a", "1\n"), write(), write("a", "2\n"), write("new", "x"))
	})
}

// Commits are work even where the files are as before.
func TestACommitIsANewState(t *testing.T) {
	t.Parallel()
	f := repository(t, "a", "1\n").loop()
	f.became([]int{1, 2, 3, 4, 5, 5, 7, 7},
		func() {},
		func() {
			f.git("checkout", "-q", "-b", "mend/7")
			f.write("a", "2\n")
			f.git("commit", "-q", "-am", "mend")
			f.git("checkout", "-q", "main")
		},
		func() { f.git("tag", "v1") },
		func() { f.git("commit", "-q", "--allow-empty", "-m", "more") },
		func() { f.git("pack-refs", "--all") },
		func() {},
		func() { f.git("checkout", "-q", "-b", "other") },
		func() { f.git("checkout", "-q", "other") })
}

func TestWhatIsTooLargeIsPartOfTheState(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, begin func(t testing.TB, files ...string) *folder) {
		f := begin(t, "a", "1\n")
		f.opts.MaxFile = 100
		f.loop()
		large := func(size int) func() { return func() { f.write("large", string(make([]byte, size))) } }
		f.became([]int{1, 2, 3, 3, 3}, func() {}, large(200), large(300), func() {},
			func() { f.write("b", "1\n"); f.after(9); f.write("b", gone) })
	})
}

// What happens in a repository deep within the folder, nobody can tell.
func TestARepositoryDeepWithinIsNotSeen(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, begin func(t testing.TB, files ...string) *folder) {
		f := begin(t, "a", "1\n").loop()
		if f.after(1).Blind {
			t.Error("nothing is hidden")
		}
		f.git("init", "-q", "--template=", f.path("with/i/n/i/t"))
		if !f.after(2, "with/i/n/i/t/file", "1\n").Blind || !f.after(3, "with/i/n/i/t/file", "2\n").Blind {
			t.Error("a repository within hides what happens in it")
		}
		f.write("with", gone)
		if f.after(4).Blind {
			t.Error("it is gone")
		}
	})
	f := repository(t, "a", "1\n", ".gitmodules", "[submodule \"x\"]\n\tpath = with/i/n/i/t\n")
	f.git("init", "-q", "--template=", f.path("with/i/n/i/t"))
	f.git("add", ".gitmodules")
	if taken := f.loop().after(1); !taken.Blind {
		t.Error("submodules hide what happens in them")
	}
}

func TestTreesAreThoseSinceTheUsersLastChange(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, begin func(t testing.TB, files ...string) *folder) {
		f := begin(t, "a", "1\n")
		f.open("ralph-test")
		trees := func(want ...int) (all []Past) {
			t.Helper()
			all, err := f.Trees(context.Background())
			must.OK(t, err)
			var got []int
			for _, past := range all {
				got = append(got, past.Iteration)
			}
			if len(got) != len(want) {
				t.Fatalf("trees after %v, want %v", got, want)
			}
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("trees after %v, want %v", got, want)
				}
			}
			return all
		}
		trees()
		f.start()
		trees(0)
		f.after(1, "a", "2\n")
		f.after(2)
		last := f.after(3, "a", "3\n")
		if all := trees(0, 1, 3); all[2].Tree != last.Tree {
			t.Errorf("%+v, the last is %s", all, last.Tree)
		}
		f.write("a", "mine\n")
		f.start()
		f.after(4, "a", "1\n")
		trees(3, 4)
	})
}

func TestWhichFilesShow(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, begin func(t testing.TB, files ...string) *folder) {
		f := begin(t, "a", "1\n", ".gitignore", "*.log\nnotes/\n").loop()
		elsewhere := t.TempDir()
		must.OK(t, os.Symlink(f.dir, filepath.Join(elsewhere, "link")))
		for path, want := range map[string]bool{
			f.path("a"): true, f.path("new/deep/b"): true, f.path(".pi/ours.md"): true, filepath.Join(elsewhere, "link", "a"): true,
			f.path("x.log"): false, f.path("notes/plan.md"): false, f.path("../beside"): false, filepath.Join(elsewhere, "a"): false,
		} {
			if got := f.Shows(context.Background(), path); got != want {
				t.Errorf("%s: %v", path, got)
			}
		}
	})
}
