package changes

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// takeUntilKilled changes a folder, makes snapshots and undoes them for ever.
func takeUntilKilled(dir string) {
	for n := 1; ; n++ {
		s, err := Create(context.Background(), dir, "ralph-test", Options{MaxFile: 1 << 20, Dir: dir + ".changes"})
		if err == nil {
			_, err = s.Start(context.Background())
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "a"), fmt.Appendf(nil, "%d\n", n), 0o600)
		}
		if err == nil {
			_, err = s.After(context.Background(), n)
		}
		if err == nil {
			_, err = s.Undo(context.Background(), Undo{Iteration: n})
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(n)
	}
}

// A process is killed at any moment, again and again. Afterwards nothing lies
// about, nothing that was made is lost, and it goes on.
func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	f := repository(t, "a", "0\n", "user", "1\n")
	f.opts.Dir = f.dir + ".changes"
	t.Cleanup(func() { os.RemoveAll(f.opts.Dir) })
	program, err := os.Executable()
	f.must(err)
	for range 30 {
		cmd := exec.Command(program, "take-snapshots", f.dir)
		var complaint strings.Builder
		cmd.Stderr = &complaint
		f.must(cmd.Start())
		time.Sleep(time.Duration(rand.IntN(80)) * time.Millisecond) // any moment
		cmd.Process.Kill()
		if cmd.Wait(); complaint.Len() > 0 {
			t.Fatal(complaint.String())
		}
		f.has("user", "1\n")
	}
	f.loop()
	f.after(1000, "a", "last\n")
	f.changed(Range{999, 1000}, "modified a +1 -1")
	for _, pattern := range []string{f.path(".ralph-*"), f.path(".git/*.lock"), f.home + "/*.lock", f.home + "/export-*", f.home + "/works"} {
		if left, _ := filepath.Glob(pattern); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	}
	if out := f.git("fsck", "--strict", "--no-dangling"); strings.Contains(out, "error") || strings.Contains(out, "missing") {
		t.Error(out)
	}
	if out := f.git("status", "--porcelain"); out != " M a\n" {
		t.Errorf("%q", out)
	}
}
