package changes

import (
	"context"
	"fmt"
	"math/bits"
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
			if names := strings.Fields(git("ls-tree", "--name-only", "refs/ralph/ralph-test/files")); len(names) > 2+2*2*perOlder+bits.Len(uint(i/perOlder)) {
				t.Fatalf("%d snapshots have a list of %d", i+1, len(names))
			}
		}
		git("gc", "--quiet", "--prune=now")
		for path, want := range map[string]string{"0": "0", "older.0.1-7/1": "1", "older.0.1-7/5": "5", "older.8.8-9/9": "9", "last": "12", "12": "12"} {
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
		if all, err := theirs.in.snapshots(); err != nil || !slices.Equal(all, ours) || len(all) != n+1 {
			t.Errorf("a copy on another machine has %v (%v), want %v", all, err, ours)
		}
		f.undo(Undo{Since: 1}, []string{"a"})
		f.has("a", "0\n")
		if files, _ := filepath.Glob(filepath.Join(f.home, "older-*")); len(files) != 2 {
			t.Errorf("there are %q", files)
		}
		f.must(os.Remove(filepath.Join(f.home, olderName(8))))
		if _, err := f.Files(context.Background(), Range{0, Latest}, nil); err == nil || !strings.Contains(err.Error(), olderName(8)) {
			t.Errorf("without an older list: %v", err)
		}
	})
}

// Who is killed while two older lists become one has left the new one beside what names the old ones. Nothing is there
// twice, and it goes on.
func TestKilledWhileOlderListsBecomeOne(t *testing.T) {
	t.Parallel()
	f := repository(t, "a", "0\n").loop()
	n := 0
	for ; n < 5; n++ {
		f.after(n+1, "a", strconv.Itoa(n+1)+"\n")
	}
	before := map[string][]byte{}
	for _, name := range []string{tipName, olderName(0)} {
		data, err := os.ReadFile(filepath.Join(f.home, name))
		f.must(err)
		before[name] = data
	}
	shown, err := f.snapshots()
	f.must(err)
	f.after(6, "a", "6\n") // the one at which they become one
	f.after(7, "a", "7\n")
	if after, err := os.ReadFile(filepath.Join(f.home, olderName(0))); err != nil || len(after) <= len(before[olderName(0)]) {
		t.Fatalf("they haven't become one: %v", err)
	}
	f.must(os.WriteFile(filepath.Join(f.home, tipName), before[tipName], 0o600))
	f.open("ralph-test")
	if again, err := f.snapshots(); err != nil || !slices.Equal(again, shown) {
		t.Errorf("there are %v (%v), want %v", again, err, shown)
	}
	for i := 8; i < 20; i++ {
		f.after(i, "a", strconv.Itoa(i)+"\n")
	}
	all, err := f.snapshots()
	f.must(err)
	for i := range all {
		if i > 0 && (all[i].place != i || all[i].tree == all[i-1].tree) {
			t.Errorf("at %d is %v, behind %v", i, all[i], all[i-1])
		}
	}
	f.undo(Undo{Since: 1}, []string{"a"})
	f.has("a", "0\n")
}

// A list says the same when it was read.
func TestAListIsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	var l list
	for i := range 3 {
		l.append(snapshot{Kind: kindIteration, Number: i + 4, made: 7, tree: strings.Repeat(strconv.Itoa(i), 40)})
		l.older = append(l.older, older{place: 10 * i, name: fmt.Sprintf("older.%d.1-3", 10*i), tree: strings.Repeat("f", 40)})
	}
	if text := l.text(); readList(text).text() != text || len(readList(text).older) != 3 {
		t.Errorf("%q is read as %q", text, readList(text).text())
	}
}
