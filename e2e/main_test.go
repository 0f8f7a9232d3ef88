//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"ralph-lsp/internal/agents"
	"ralph-lsp/internal/proctest"
)

// What all tests share; set once by TestMain.
var (
	ralph     string      // the program under test
	installed *agents.Set // the real agents
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(1)
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	proctest.HeedSignals()
	cache, err := agents.CacheDir()
	if err != nil {
		return 0, err
	}
	if installed, err = agents.Install(context.Background(), cache, os.Stderr); err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "ralph-e2e-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	ralph = filepath.Join(dir, "ralph-lsp")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", ralph, "ralph-lsp/cmd/ralph-lsp")
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("building ralph-lsp: %w\n%s", err, out)
	}
	return m.Run(), nil
}
