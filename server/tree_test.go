package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// repository makes a folder with a repository in it, whose worktrees are beside it.
func repository(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(paths.Real(t.TempDir()), "app")
	must.Write(t, filepath.Join(dir, "a"), "one\n")
	testhome.Git(t, dir, "init", "-q", "-b", "main")
	testhome.Git(t, dir, "add", "-A")
	testhome.Git(t, dir, "-c", "user.name=Ann", "-c", "user.email=ann@example.com", "commit", "-qm", "first")
	return dir
}

func TestALoopInAWorktree(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	tree := filepath.Join(filepath.Dir(dir), "app.worktrees", "build-x")
	must.Write(t, filepath.Join(dir, "ralph.toml"), "[worktree]\nsetup = [\"echo prepared\"]\n")
	c := dial(t, optedIn, dir)
	other := dial(t, optedIn, dir) // another editor of the same folder
	start := map[string]any{"text": "Build X --worktree", "backend": agentThat(t, "never"), "trust": true}
	start["dryRun"] = true
	preview := c.dryRun(start)
	if got := rowOf(preview, "Worktree"); got != "ralph/build-x, from the last commit · "+tree || preview.Cwd != tree || rowOf(preview, "Folder") != tree {
		t.Errorf("%q %q", got, preview.Cwd)
	}
	delete(start, "dryRun")
	started := result[wire.StartResult](c, c.Command(wire.CommandStart, start))
	want := wire.Worktree{Branch: "ralph/build-x", Repository: wire.FileURI(dir), Path: wire.FileURI(tree)}
	if started.Worktree == nil || *started.Worktree != want {
		t.Errorf("%+v", started)
	}
	c.Hears("window/logMessage", "prepared")
	for _, editor := range []*dialled{c, other} {
		l := editor.status(tree, inState("running"))
		if l.Worktree == nil || *l.Worktree != want || l.Title != "Build X" {
			t.Errorf("%+v", l)
		}
	}
	other.Must(other.Command(wire.CommandCancel, wire.CancelParams{LoopParams: wire.LoopParams{LoopID: started.LoopID}}))
	for _, editor := range []*dialled{c, other} {
		editor.status(tree, inState("ended"))
	}
	if _, err := os.Stat(filepath.Join(dir, ".pi")); err == nil {
		t.Error("the user's folder was written to")
	}

	// Its branch is checked out there, so it can't have another worktree.
	m := c.Command(wire.CommandStart, map[string]any{"prompt": "x", "worktree": "ralph/build-x", "backend": agentThat(t, "never"), "trust": true})
	if reason(t, m) != wire.ReasonNoWorktree || !strings.Contains(m.Error.Message, "is checked out in "+tree) {
		t.Errorf("%+v", m.Error)
	}
}

func TestASetupThatFailsStartsNothing(t *testing.T) {
	dir := repository(t)
	must.Write(t, filepath.Join(dir, "ralph.toml"), "[worktree]\nsetup = [\"echo no such luck; exit 1\"]\n")
	c := dial(t, optedIn, dir)
	m := c.Command(wire.CommandStart, map[string]any{"prompt": "x", "worktree": true, "backend": agentThat(t, "never")})
	if reason(t, m) != wire.ReasonUntrusted {
		t.Errorf("%+v", m.Error)
	}
	m = c.Command(wire.CommandStart, map[string]any{"prompt": "x", "worktree": true, "backend": agentThat(t, "never"), "trust": true})
	if reason(t, m) != wire.ReasonNoWorktree || !strings.Contains(m.Error.Message, "no such luck") {
		t.Errorf("%+v", m.Error)
	}
	if _, err := os.Stat(dir + ".worktrees"); err == nil || testhome.Git(t, dir, "branch", "--list", "ralph/*") != "" {
		t.Error("something is left of it")
	}
}

// A loop in a worktree of a folder that the editor closes is interrupted, as in the folder itself.
func TestAClosedFolderTakesItsTreesWithIt(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	tree := dir + ".worktrees/x"
	c := dial(t, optedIn, dir)
	c.Must(c.Command(wire.CommandStart, map[string]any{"prompt": "x", "worktree": true, "backend": agentThat(t, "never")}))
	c.status(tree, inState("running"))
	c.Notify("workspace/didChangeWorkspaceFolders", map[string]any{"event": map[string]any{"added": []any{}, "removed": []any{map[string]any{"uri": wire.FileURI(dir), "name": "app"}}}})
	c.statusWithout(tree)
	if data, err := os.ReadFile(filepath.Join(tree, ".pi", "ralph-loop.local.md")); err != nil || !strings.Contains(string(data), "iteration: 1") {
		t.Errorf("it can't be continued: %v %s", err, data)
	}
}
