package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// What this editor's user saves counts while an agent works; what anybody else writes there is asked about.
func TestWhatTheEditorSavesIsItsUsers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	c.Must(c.Command(wire.CommandStart, wire.StartParams{Prompt: "Build it", Choices: wire.Choices{
		Backend: agentThat(t, "never"), LimitParams: wire.LimitParams{Given: limits.Given{MaxIterations: new(3)}}}}))
	c.status(dir, inState("running"))
	file := filepath.Join(dir, filepath.FromSlash(loopstate.Name))
	write := func(n string) string {
		t.Helper()
		text := strings.Replace(strings.Replace(readFile(t, file), "max_iterations: 3", "max_iterations: "+n, 1), "max_iterations: 9", "max_iterations: "+n, 1)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return text
	}
	write("500")
	asked := c.status(dir, func(s wire.LoopStatus) bool { return len(s.Questions) == 1 })
	if q := asked.Questions[0]; q.Kind != ask.Limits || asked.MaxIterations != 3 || asked.State != string(loop.StateRunning) {
		t.Errorf("%+v", asked)
	}
	doc := map[string]any{"uri": wire.FileURI(file), "languageId": "markdown", "version": 1, "text": write("9")}
	c.Notify("textDocument/didOpen", map[string]any{"textDocument": doc})
	c.Notify("textDocument/didSave", map[string]any{"textDocument": map[string]any{"uri": doc["uri"]}})
	c.status(dir, func(s wire.LoopStatus) bool { return s.MaxIterations == 9 && len(s.Questions) == 0 })
	if text := readFile(t, file); !strings.Contains(text, "max_iterations: 9") {
		t.Errorf("the file says %s", text)
	}
}
