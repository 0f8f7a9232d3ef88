//go:build unix

package changes

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// standIn is a script that is found as git. In it, "$git" is the real one and $PPID who has started it.
func standIn(t testing.TB, script string) (path string) {
	t.Helper()
	git, err := exec.LookPath("git")
	must.OK(t, err)
	bin := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(bin, "git"), fmt.Appendf(nil, "#!/bin/sh\ngit=%s\n%s\nexec \"$git\" \"$@\"\n", git, script), 0o700))
	return bin + string(filepath.ListSeparator) + os.Getenv("PATH")
}

// Many files go into a folder of their own among the objects. Who is killed before that, in the middle, or before what
// is whole was moved, leaves what the next one makes a snapshot of.
func TestKilledWhileManyFilesAreTaken(t *testing.T) {
	t.Parallel()
	for name, kill := range map[string]string{
		"before git":            "kill -9 $PPID; exit 1",
		"with git half way":     "head -c 3000 | \"$git\" \"$@\"; kill -9 $PPID; exit 1",
		"before what git wrote": "\"$git\" \"$@\"; kill -9 $PPID; exit 1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, begin func(t testing.TB, files ...string) *folder) {
				f := begin(t, "a", "0\n")
				f.opts.Dir = f.dir + ".changes"
				t.Cleanup(func() { os.RemoveAll(f.opts.Dir) })
				for i := range many + 200 {
					f.write(fmt.Sprintf("data/%d", i), fmt.Sprintln("data", i))
				}
				program, err := os.Executable()
				f.must(err)
				cmd := exec.Command(program, "take-snapshots", f.dir)
				cmd.Env = append(os.Environ(), "PATH="+standIn(t, "case \"$GIT_OBJECT_DIRECTORY $*\" in *tmp_objdir-*update-index*) "+kill+";; esac"))
				out, _ := cmd.CombinedOutput()
				if cmd.ProcessState.Exited() {
					t.Fatalf("it wasn't killed: %s", out)
				}
				f.loop()
				f.after(1, "data/7", gone, "a", "1\n")
				f.changed(Range{0, 1}, "modified a +1 -1", "deleted data/7 +0 -1")
				f.undo(Undo{Iteration: 1}, []string{"a", "data/7"})
				f.has("data/7", "data 7\n")
				if left, _ := filepath.Glob(filepath.Join(f.book.objects(), "tmp_*")); len(left) > 0 {
					t.Errorf("left behind: %q", left)
				}
				fsck := exec.Command("git", "--git-dir="+f.book.GitDir, "fsck", "--strict", "--no-dangling")
				if out, err := fsck.CombinedOutput(); err != nil || strings.Contains(string(out), "missing") {
					t.Errorf("%v: %s", err, out)
				}
			})
		})
	}
}

// One git looks where that was quick the last time, and two at once where it wasn't.
func TestHowManyGitsLook(t *testing.T) {
	f := repository(t, "a", "0\n")
	slow, log := filepath.Join(t.TempDir(), "slow"), filepath.Join(t.TempDir(), "log")
	t.Setenv("PATH", standIn(t, fmt.Sprintf("case \"$*\" in *diff-files*|*' ls-files '*) echo look >>%q; [ ! -e %q ] || sleep %.1f;; esac", log, slow, 1.1*quickLook.Seconds())))
	f.open("ralph-test")
	looks, n := 0, 0
	look := func() int {
		t.Helper()
		f.must(os.WriteFile(log, nil, 0o600))
		n++
		f.after(n, "a", fmt.Sprintln(n))
		data, err := os.ReadFile(log)
		f.must(err)
		return strings.Count(string(data), "look")
	}
	if looks = look(); looks != 2 {
		t.Errorf("%d gits look at first", looks)
	}
	proctest.Until(t, "one looks, as it was quick before", func() bool { return look() == 1 })
	f.must(os.WriteFile(slow, nil, 0o600))
	look()
	if looks = look(); looks != 2 {
		t.Errorf("%d gits look where one was slow", looks)
	}
	f.must(os.Remove(slow))
	proctest.Until(t, "one looks again", func() bool { return look() == 1 })
	if _, err := f.Files(context.Background(), Range{0, Latest}, nil); err != nil {
		t.Error(err)
	}
}
