package main

import (
	"cmp"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra/doc"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// TestManPages writes the pages of a release into MAN_PAGES. It is a test because a command of the
// program's own would carry what makes them.
func TestManPages(t *testing.T) {
	dir := cmp.Or(os.Getenv("MAN_PAGES"), t.TempDir())
	root := newRoot()
	addCommands(root)
	root.DisableAutoGenTag = true
	must.OK(t, doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "ralph-lsp", Manual: "ralph-lsp"}, dir))
	for _, page := range []string{"ralph-lsp", "ralph-lsp-run", "ralph-lsp-history-show"} {
		if _, err := os.Stat(filepath.Join(dir, page+".1")); err != nil {
			t.Error(err)
		}
	}
}
