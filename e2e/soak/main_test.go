//go:build soak && linux

package soak

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/agents"
	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
)

func TestMain(m *testing.M) {
	testhome.Main(m, roleVar, map[string]func(){"agent": agent, "vendor": vendor})
}

// built is the program, in the home of all tests.
var built = sync.OnceValues(func() (string, error) { return agents.BuildRalph(filepath.Join(os.Getenv("HOME"), "built")) })
