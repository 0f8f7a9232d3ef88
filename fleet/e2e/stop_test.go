//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Who stops a worker that can't give its loop back, since the bus is away, need not wait for
// that: a second Ctrl-C ends it, and nothing is left running.
func TestAWorkerIsInterruptedTwiceWhileTheBusIsAway(t *testing.T) {
	w := newWorld(t)
	worker := w.worker("one", 1, w.addr, long)
	w.submit("stuck", "hang=1")
	w.until("the agent hangs", w.hasDone("hung stuck 1"))
	kill(t, w.bus)
	worker.Process.Signal(os.Interrupt)
	w.until("it wants to give its loop back", func() bool {
		said, _ := os.ReadFile(filepath.Join(w.dir, "one.said"))
		return strings.Contains(string(said), "the bus doesn't take it")
	})
	worker.Process.Signal(os.Interrupt)
	worker.Wait()
	if by := worker.ProcessState.Sys().(syscall.WaitStatus); !by.Signaled() || by.Signal() != syscall.SIGINT {
		t.Errorf("it ended with %s", worker.ProcessState)
	}
}

// A worker that drains takes no more loops and lets the iteration that it runs end: none is lost, and none is run again.
func TestAWorkerDrains(t *testing.T) {
	w := newWorld(t)
	first := w.worker("first", 1, w.addr, long, "--drain", "5m")
	w.submit("one", "runs=2 until=asked")
	w.until("iteration 1", w.hasDone("begin one 1"))
	first.Process.Signal(syscall.SIGTERM)
	w.write("asked", "")
	if err := first.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if s := w.status()["one"]; s.State != "queued" || s.Iterations != 1 || s.Attempt != 1 {
		t.Errorf("behind that the loop is %+v", s)
	}
	w.worker("second", 1, w.addr, long)
	if end := w.ends("one"); end.Iterations != 2 || strings.Count(w.did(), "begin one") != 2 {
		t.Errorf("ended as %+v\n%s", end, w.did())
	}
}

// An iteration that takes longer is cut off, and run again by another worker.
func TestAWorkerDrainsForSoLong(t *testing.T) {
	w := newWorld(t)
	first := w.worker("first", 1, w.addr, long, "--drain", "1s")
	w.submit("one", "runs=1 hang=1")
	w.until("the agent hangs", w.hasDone("hung one 1"))
	first.Process.Signal(syscall.SIGTERM)
	if err := first.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	w.worker("second", 1, w.addr, long)
	if end := w.ends("one"); end.StopReason != "promise" || strings.Count(w.did(), "begin one 1\n") != 2 {
		t.Errorf("ended as %+v\n%s", end, w.did())
	}
}
