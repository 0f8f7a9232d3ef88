//go:build !race

package changes

import (
	"os"
	"path/filepath"
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
	f := repository(t, "a", "0\n", "user", "1\n")
	f.opts.Dir = f.dir + ".changes"
	t.Cleanup(func() { os.RemoveAll(f.opts.Dir) })
	kills, gits, locks, made := proctest.Kills(15), 0, 0, 0
	for i := range kills {
		gits += proctest.KillAnywhere(t, 60*time.Millisecond, i%2 == 0, func(string) {}, "take-snapshots", f.dir)
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
