package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/filekinds"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
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
	must.OK(t, os.WriteFile(filepath.Join(g.Dir, "new"), nil, 0o600))
	if _, err := g.Run(t.Context(), nil, "status"); err == nil || !strings.Contains(err.Error(), path+": it has more than") {
		t.Errorf("a rule file of 40 GB: %v", err)
	}
}

// A device has no business in the place of such a file: nobody waits until the memory is used up.
func TestAGitThatReadsADevice(t *testing.T) {
	kinds := filekinds.All()
	if last := kinds[len(kinds)-1]; last.Name == "a device" {
		g := repository(t)
		path := filepath.Join(g.Dir, ".gitattributes")
		last.Put(t, path)
		filekinds.Ends(t, func() {
			if _, err := g.Run(t.Context(), []byte("new"), "check-attr", "--stdin", "text"); err == nil || !strings.Contains(err.Error(), path+": it isn't a regular file but a device") {
				t.Errorf("%v", err)
			}
		})
	}
}
