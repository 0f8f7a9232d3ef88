package git

import (
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/filekinds"
	"os"
	"path/filepath"
)

// A git that reads without end runs out of its own memory, not of everybody's.
func TestAGitThatFillsTheMemory(t *testing.T) {
	g := repository(t)
	g.Program = program(t, "sleep 0.2; grep 'Max data size' /proc/$$/limits")
	if said, err := g.Text(t.Context(), nil, "status"); err != nil || !strings.Contains(said, "4294967296") {
		t.Errorf("its limit is %s, %v", said, err)
	}
	g.Program = repository(t).Program
	path := filepath.Join(g.Dir, ".gitignore")
	filekinds.All()[2].Put(t, path)
	if err := os.WriteFile(filepath.Join(g.Dir, "new"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Run(t.Context(), nil, "status"); err == nil || !strings.Contains(err.Error(), path+": it has more than") {
		t.Errorf("a rule file of 40 GB: %v", err)
	}
}
