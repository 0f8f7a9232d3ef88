//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// Whatever ends a setup, nothing that it has started is left, not even a tool that is deaf
// and in a session of its own.
func TestNothingOfASetupIsLeft(t *testing.T) {
	tests := []struct {
		name string
		end  func(t *testing.T, w *world, first *exec.Cmd)
		want string // why the loop has ended
	}{
		{"cancelled", func(_ *testing.T, w *world, _ *exec.Cmd) { w.must("cancel", "one") }, "cancelled"},
		{"the worker is stopped", func(_ *testing.T, _ *world, first *exec.Cmd) {
			first.Process.Signal(syscall.SIGTERM)
			first.Wait()
		}, "promise"},
		{"the worker is killed", func(t *testing.T, _ *world, first *exec.Cmd) { kill(t, first) }, "promise"},
		{"the worker stands still", func(_ *testing.T, _ *world, first *exec.Cmd) { first.Process.Signal(syscall.SIGSTOP) }, "promise"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			first := w.worker("first", 1, w.addr, short)
			w.submit("one", "runs=2", "--setup", roleEnv+"=setup "+os.Args[0])
			w.until("a tool", w.hasDone("setup hangs"))
			tt.end(t, w, first)
			tools := func() []proctest.Process {
				return ofWorld(append(proctest.Find(roleEnv+"=deaf"), proctest.Find(roleEnv+"=setup")...), w)
			}
			switch tt.name {
			case "cancelled", "the worker is stopped": // that is said when all is gone
				if left := tools(); len(left) > 0 {
					t.Errorf("left: %v", left)
				}
			default:
				w.until("the end of all tools", func() bool { return len(tools()) == 0 })
			}
			w.worker("second", 1, w.addr, short)
			if end := w.ends("one"); end.StopReason != tt.want {
				t.Errorf("ended as %+v", end)
			}
		})
	}
}
