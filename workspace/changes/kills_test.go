//go:build !race

package changes

import (
	"bufio"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// A process is killed at any moment, again and again, and every other time its
// git with it; every third time git throws away all that has no name. Afterwards
// nothing lies about, nothing that was made is lost, and it goes on.
// RALPH_TEST_KILLS says how often.
func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	kills := 15
	if n, err := strconv.Atoi(os.Getenv("RALPH_TEST_KILLS")); err == nil {
		kills = n
	}
	f := repository(t, "a", "0\n", "user", "1\n")
	f.opts.Dir = f.dir + ".changes"
	t.Cleanup(func() { os.RemoveAll(f.opts.Dir) })
	program, err := os.Executable()
	f.must(err)
	gits, locks, made := 0, 0, 0
	for i := range kills {
		cmd := exec.Command(program, "take-snapshots", f.dir)
		var complaint strings.Builder
		cmd.Stderr = &complaint
		out, err := cmd.StdoutPipe()
		f.must(err)
		f.must(cmd.Start())
		for lines := bufio.NewScanner(out); rand.IntN(3) > 0 && lines.Scan(); {
		}
		time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond) // any moment
		var children []int
		if i%2 == 0 {
			children = proctest.Children(cmd.Process.Pid)
		}
		cmd.Process.Kill()
		for _, pid := range children {
			if git, err := os.FindProcess(pid); err == nil && git.Kill() == nil {
				gits++
			}
		}
		if cmd.Wait(); complaint.Len() > 0 {
			t.Fatal(complaint.String())
		}
		locks += len(f.locks())
		f.has("user", "1\n")
		if i%3 == 0 {
			f.git("gc", "-q", "--prune=now")
		}
		now := 0
		if f.Store == nil && len(f.books()) > 0 {
			f.open("ralph-test")
		}
		if f.Store != nil {
			if snapshots, err := f.snapshots(); err == nil {
				now = len(snapshots)
			}
		}
		if now < made {
			t.Fatalf("%d snapshots, and %d before", now, made)
		}
		made = now
	}
	t.Logf("%d kills, %d gits with them; %d locks were left for the next one; %d snapshots", kills, gits, locks, made)
	f.loop()
	f.after(1_000_000, "a", "last\n")
	f.changed(Range{999_999, 1_000_000}, "modified a +1 -1")
	left := f.locks()
	for _, pattern := range []string{f.path(".ralph-*"), f.home + "/export-*", f.home + "/merge-*", f.home + "/works"} {
		more, _ := filepath.Glob(pattern)
		left = append(left, more...)
	}
	if len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if out := f.git("fsck", "--strict", "--no-dangling"); strings.Contains(out, "error") || strings.Contains(out, "missing") {
		t.Error(out)
	}
	if out := f.git("status", "--porcelain"); out != " M a\n" {
		t.Errorf("%q", out)
	}
}
