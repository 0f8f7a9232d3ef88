//go:build e2e

package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/agents"
)

// What all tests share; set once by TestMain.
var (
	ralph     string // the program under test
	agentsDir string // has the stand-in agent as "pi", and nothing else
)

func TestMain(m *testing.M) {
	if play, ok := roles[filepath.Base(os.Args[0])]; ok {
		if err := play(); err != nil {
			fmt.Fprintln(os.Stderr, "stand-in:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "clients:", err)
		os.Exit(1)
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "ralph-clients-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if ralph, err = agents.BuildRalph(dir); err != nil {
		return 0, err
	}
	agentsDir = filepath.Join(dir, "agents")
	if err := installStandIn(agentsDir); err != nil {
		return 0, fmt.Errorf("installing the stand-in: %w", err)
	}
	if err := os.Symlink(ralph, filepath.Join(agentsDir, "ralph-lsp")); err != nil { // as the recipes call it
		return 0, err
	}
	return m.Run(), nil
}
