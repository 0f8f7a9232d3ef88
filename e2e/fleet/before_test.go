//go:build e2e

package fleet

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
)

// before is a commit with the version before.
const before = "bada469"

// programsOf builds the programs of a commit.
func programsOf(t *testing.T, commit string) string {
	t.Helper()
	root, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil || exec.Command("git", "cat-file", "-e", commit+"^{commit}").Run() != nil {
		t.Skipf("this clone lacks %s; what it wrote is played in fleet/natsbus, TestWorkersOfTheVersionBefore", commit)
	}
	dir := t.TempDir()
	archive := exec.Command("git", "archive", commit)
	archive.Dir = string(bytes.TrimSpace(root)) // else it is of this folder alone
	unpack := exec.Command("tar", "-x", "-C", dir)
	unpack.Stdin, _ = archive.StdoutPipe()
	if err := archive.Start(); err != nil {
		t.Fatal(err)
	}
	if out, err := unpack.CombinedOutput(); err != nil {
		t.Fatalf("unpacking: %v\n%s", err, out)
	}
	if err := archive.Wait(); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", filepath.Join(dir, "bin")+"/", "./cmd/ralph-lsp", "./cmd/ralph-fleet")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", commit, err, out)
	}
	return filepath.Join(dir, "bin")
}

func TestWorkersOfTwoVersions(t *testing.T) {
	old := programsOf(t, before)
	for name, serves := range map[string]string{"a bus of before": old, "a bus of today": programs} {
		t.Run(name, func(t *testing.T) {
			w := newWorldOf(t, serves)
			w.with(old).worker("older", 2, w.addr, short)
			lost := w.worker("newer", 2, w.addr, short)
			for i := range 4 {
				w.with([]string{old, programs}[i%2]).submit(fmt.Sprintf("loop-%d", i), "runs=6 nap=300ms")
			}
			w.until("work of both", func() bool {
				done := map[string]bool{}
				for _, s := range w.status() {
					done[s.Host] = true
				}
				return done["older"] && done["newer"]
			})
			kill(t, lost)
			w.worker("third", 2, w.addr, short)
			w.with(old).submit("cancelled", "runs=6 nap=1h")
			w.with(old).must("cancel", "cancelled")
			for i := range 4 {
				name := fmt.Sprintf("loop-%d", i)
				if end := w.ends(name); end.StopReason != "promise" || end.Iterations != 6 {
					t.Errorf("ended as %+v", end)
				}
				w.with([]string{programs, old}[i%2]).counted(name, 6)
			}
		})
	}
}
