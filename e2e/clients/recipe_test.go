//go:build e2e

package clients

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// recipe returns the code blocks of a language below a heading of docs/EDITORS.md,
// as a user copies them.
func recipe(t *testing.T, heading, language string) []string {
	t.Helper()
	page := must.Read(t, filepath.Join("..", "..", "docs", "EDITORS.md"))
	_, section, found := strings.Cut(string(page), "\n"+heading+"\n")
	section, _, _ = strings.Cut(section, "\n#")
	var blocks []string
	for _, part := range strings.Split(section, "\n```"+language+"\n")[1:] {
		block, _, _ := strings.Cut(part, "\n```")
		blocks = append(blocks, block+"\n")
	}
	if !found || len(blocks) == 0 {
		t.Fatalf("docs/EDITORS.md has no %s below %q", language, heading)
	}
	return blocks
}
