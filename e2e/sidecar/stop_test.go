//go:build e2e

package sidecar

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// times is how often in a row each way to end is tried.
var times = flag.Int("times", 1, "how often each way of the editor's end is tried")

// ways are how an editor ends.
var ways = []struct {
	name string
	end  func(e *editor)
}{
	{"end of stdin", func(e *editor) { e.Close() }},
	{"exit", func(e *editor) { e.Notify("exit", nil) }},
	{"shutdown and exit", func(e *editor) {
		e.Must(e.Call("shutdown", nil))
		e.Notify("exit", nil)
	}},
	{"SIGTERM", func(e *editor) { e.cmd.Process.Signal(syscall.SIGTERM) }},
	{"SIGHUP", func(e *editor) { e.cmd.Process.Signal(syscall.SIGHUP) }},
	{"SIGINT", func(e *editor) { e.cmd.Process.Signal(syscall.SIGINT) }},
	{"broken stdout", func(e *editor) {
		e.out.Close()
		e.BeginCommand("ralph.help", struct{}{}) // the answer meets the broken pipe
	}},
	{"SIGKILL", func(e *editor) { e.cmd.Process.Kill() }},
}

func TestTheEditorsEndLeavesNothing(t *testing.T) {
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			for range *times {
				stopOnce(t, exec.Command(sidecar, "--stdio"), way.end)
			}
		})
	}
}

func TestTheParentsDeathLeavesNothing(t *testing.T) {
	for range *times {
		parent := exec.Command(os.Args[0])
		parent.Env = append(os.Environ(), roleEnv+"=parent", "RALPH_SIDECAR="+sidecar)
		// Its stdin stays open: only the look at the parent tells, every 2 s.
		stopOnce(t, parent, func(e *editor) { e.cmd.Process.Kill() })
	}
}

// stopOnce runs a loop whose agent has a deaf, detached tool, ends the editor,
// and returns how long it took until nothing was left.
func stopOnce(t testing.TB, cmd *exec.Cmd, end func(*editor)) time.Duration {
	t.Helper()
	dir := t.TempDir()
	mark := fmt.Sprintf("RALPH_STOP_TEST=%d-%s", os.Getpid(), filepath.Base(filepath.Dir(dir))+filepath.Base(dir))
	if cmd.Env == nil {
		cmd.Env = append(os.Environ(), roleEnv+"=stubborn")
	}
	cmd.Env = append(cmd.Env, mark)
	e := launch(t, cmd, dir)
	e.start(dir, "work")
	e.Hears("ralph/update", `"tool_call"`)
	if n := len(proctest.Find(mark)); n < 3 {
		t.Fatalf("%d processes: the sidecar, its agent and a tool should run", n)
	}
	begin := time.Now()
	end(e)
	proctest.CheckNone(t, patience, mark)
	took := time.Since(begin)
	state, err := os.ReadFile(filepath.Join(dir, ".pi", "ralph-loop.local.md"))
	if err != nil || !strings.Contains(string(state), "active: true") || !strings.Contains(string(state), "iteration: 1\n") {
		t.Errorf("the state file doesn't say where the loop stood: %v\n%s", err, state)
	}
	return took
}
