//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The disk of the bus gets full, and then fuller: all say so, nothing is lost, and with room the loops go on.
func TestABusOnASmallDisk(t *testing.T) {
	w := prepare(t)
	disk := filepath.Join(w.dir, "bus")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", disk).CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED: a small disk can't be mounted here, that needs root: %v %s", err, out)
	}
	t.Cleanup(func() { exec.Command("umount", "--lazy", disk).Run() })
	w.addr = freeAddresses(t, 1)[0]
	w.serve("--min-free", "8")
	filler := filepath.Join(disk, "filler")
	fill := func(bytes int) { // as far as there is room
		os.WriteFile(filler, make([]byte, bytes), 0o600)
	}
	empty := func() {
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
	}
	const full = "the disk of the bus is full"
	says := func(what string, args ...string) {
		t.Helper()
		w.until(what, func() bool {
			out, err := w.run(args...)
			return err != nil && strings.Contains(out+err.Error(), full)
		})
	}
	w.worker("first", 1, w.addr, long)
	for i, bytes := range []int{17 << 20, 30 << 20} {
		name := []string{"full", "brim"}[i]
		w.submit(name, "runs=2 until=enough-"+name)
		w.until("an iteration", w.hasDone("begin "+name+" 1"))
		before := strings.Count(w.said("first"), full)
		fill(bytes)
		says("what the doctor says", "doctor", "--only", "bus")
		says("what the status says", "status")
		w.write("enough-"+name, "")
		w.until("what the worker says", func() bool { return strings.Count(w.said("first"), full) > before })
		if i > 0 {
			w.until("that writing fails", func() bool { return strings.Contains(w.said("bus"), "write error") })
		} else if _, err := w.run("submit", "--repo", w.repo, "--name", "no", "--backend", os.Args[0], "x"); err == nil || !strings.Contains(err.Error(), full) {
			t.Errorf("what submit says: %v", err)
		}
		empty()
		if end := w.ends(name); end.StopReason != "promise" || end.Iterations != 2 {
			t.Errorf("ended as %+v", end)
		}
		w.counted(name, 2)
	}
	if !strings.Contains(w.said("bus"), "the bus is served anew") {
		t.Error("its disk was never so full that writing failed")
	}
	w.must("doctor", "--only", "bus")
}
