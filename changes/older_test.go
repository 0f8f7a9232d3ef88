package changes

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A loop's list has an end: the oldest snapshots move into lists of their own. All can be shown, undone and read by
// plain git, and git's garbage collection removes none.
func TestTheListOfALongLoopHasAnEnd(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, begin func(t testing.TB, files ...string) *folder) {
		f := begin(t, "a", "0\n", "b", "0\n").loop()
		git := func(args ...string) string {
			t.Helper()
			cmd := exec.Command("git", append([]string{"--git-dir=" + f.book.GitDir}, args...)...)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("git %s: %v: %s", args, err, out)
			}
			return strings.TrimSpace(string(out))
		}
		const n = 12
		for i := 1; i <= n; i++ {
			f.after(i, "a", strconv.Itoa(i)+"\n")
			if i == n/2 {
				git("gc", "--quiet", "--prune=now")
				f.open("ralph-test")
			}
			if names := strings.Fields(git("ls-tree", "--name-only", "refs/ralph/ralph-test/files")); len(names) > 2+2*2*perOlder+i/perOlder {
				t.Fatalf("%d snapshots have a list of %d", i+1, len(names))
			}
		}
		git("gc", "--quiet", "--prune=now")
		for path, want := range map[string]string{"0": "0", "older.0.1-1/1": "1", "older.4.4-5/5": "5", "last": "12", "12": "12"} {
			if got := git("show", "refs/ralph/ralph-test/files:"+path+"/"+f.book.prefix()+"a"); got != want {
				t.Errorf("git shows %q at %s, want %s", got, path, want)
			}
		}
		f.changed(Range{3, 4}, "modified a +1 -1")
		f.changed(Range{0, n}, "modified a +1 -1")
		home := t.TempDir()
		f.must(Adopt(t.Context(), home, f.dir, f.book.GitDir, "theirs"))
		theirs, err := Open(home)
		f.must(err)
		ours, err := f.snapshots()
		f.must(err)
		if all, err := theirs.snapshots(); err != nil || !slices.Equal(all, ours) || len(all) != n+1 {
			t.Errorf("a copy on another machine has %v (%v), want %v", all, err, ours)
		}
		f.undo(Undo{Since: 1}, []string{"a"})
		f.has("a", "0\n")
		f.must(os.Remove(filepath.Join(f.home, olderName(2))))
		if _, err := f.Files(context.Background(), Range{0, Latest}, nil); err == nil || !strings.Contains(err.Error(), olderName(2)) {
			t.Errorf("without an older list: %v", err)
		}
	})
}

// A list says the same when it was read.
func TestAListIsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	var l list
	for i := range 7 {
		l.append(snapshot{Kind: kindIteration, Number: i, made: 7, tree: strings.Repeat(strconv.Itoa(i), 40)})
	}
	for oldest, o := l.split(); len(oldest.own) > 0; oldest, o = l.split() {
		o.tree = strings.Repeat("f", 40)
		l.older = append(l.older, o)
	}
	if text := l.text(); readList(text).text() != text || len(l.older) != 2 || len(l.own) != 3 {
		t.Errorf("%q is read as %q", text, readList(text).text())
	}
}
