//go:build e2e

package sidecar

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
)

// A hundred loops, one in each of as many folders.
const loops, maxLoopsMiB = 100, 200

// TestAHundredLoops runs them with agents that speak ten times a second, hears
// each go on speaking, and looks at the sidecar's memory.
func TestAHundredLoops(t *testing.T) {
	e, speaking := beginLoops(t)
	speaking("a text of each loop")
	speaking("another text of each loop")
	if memory := peakMemory(e.cmd.Process.Pid) >> 10; memory > maxLoopsMiB {
		t.Errorf("%d MiB, want %d", memory, maxLoopsMiB)
	}
}

// beginLoops starts the loops. speaking waits until each has said something
// since it was called last.
func beginLoops(t testing.TB) (e *editor, speaking func(what string)) {
	folders := make([]string, loops)
	for i := range folders {
		folders[i] = t.TempDir()
	}
	cmd := exec.Command(sidecar, "--stdio")
	cmd.Env = append(os.Environ(), roleEnv+"=slowly")
	e = launch(t, cmd, folders...)
	for _, dir := range folders {
		e.start(dir, "x")
	}
	seen := 0
	return e, func(what string) {
		t.Helper()
		spoke := map[string]bool{}
		e.Until(what, func(heard []lsptest.Message) bool {
			for ; seen < len(heard); seen++ {
				if params := string(heard[seen].Params); heard[seen].Method == "ralph/update" && strings.Contains(params, "agent_message_chunk") {
					_, id, _ := strings.Cut(params, `"loopId":"`)
					id, _, _ = strings.Cut(id, `"`)
					spoke[id] = true
				}
			}
			return len(spoke) == loops
		})
	}
}
