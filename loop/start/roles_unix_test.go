//go:build unix

package start

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// Who opens a pipe waits for somebody to write to it.
func TestAPipeHasNoInstructions(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "planner.md")
	must.OK(t, syscall.Mkfifo(pipe, 0o600))
	if _, err := instructionsOf(config.Hat{InstructionsFile: pipe}); err == nil || !strings.Contains(err.Error(), "isn't a regular file") {
		t.Errorf("got %v", err)
	}
}
