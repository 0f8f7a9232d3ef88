package main

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra/doc"

	"github.com/ralph-lsp/ralph-lsp/internal/cli"
)

// TestManPages writes the pages of a release into MAN_PAGES. It is a test because a command of the
// program's own would carry what makes them.
func TestManPages(t *testing.T) {
	dir := cmp.Or(os.Getenv("MAN_PAGES"), t.TempDir())
	root := newRoot(io.Discard)
	cli.AddCompletion(root)
	root.DisableAutoGenTag = true
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "ralph-fleet", Manual: "ralph-fleet"}, dir); err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"ralph-fleet", "ralph-fleet-serve", "ralph-fleet-submit"} {
		if _, err := os.Stat(filepath.Join(dir, page+".1")); err != nil {
			t.Error(err)
		}
	}
}
