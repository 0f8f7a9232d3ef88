//go:build e2e

package fleet

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
