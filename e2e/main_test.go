//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/agents"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
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
	if ralph, err = agents.BuildRalph(dir); err != nil {
		return 0, err
	}
	return m.Run(), nil
}
