//go:build e2e

package clients

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
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
	ralph = filepath.Join(dir, "ralph-lsp")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", ralph, "ralph-lsp/cmd/ralph-lsp")
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("building ralph-lsp: %w\n%s", err, out)
	}
	agentsDir = filepath.Join(dir, "agents")
	if err := installStandIn(agentsDir); err != nil {
		return 0, fmt.Errorf("installing the stand-in: %w", err)
	}
	return m.Run(), nil
}
