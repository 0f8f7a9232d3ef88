package server

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// What this editor's user saves counts while an agent works; what anybody else writes there is asked about.
func TestWhatTheEditorSavesIsItsUsers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	c.Must(c.Command(wire.CommandStart, wire.StartParams{Prompt: "Build it", Choices: wire.Choices{
		Backend: agentThat(t, "never"), Values: settings.Values{Given: limits.Given{MaxIterations: new(3)}}}}))
	c.status(dir, inState("running"))
	file := filepath.Join(dir, filepath.FromSlash(loopstate.Name))
	write := func(n string) string {
		t.Helper()
		text := strings.Replace(strings.Replace(readFile(t, file), "max_iterations: 3", "max_iterations: "+n, 1), "max_iterations: 9", "max_iterations: "+n, 1)
		must.OK(t, os.WriteFile(file, []byte(text), 0o600))
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

// cutOff is a folder with files that an agent has written in a run that was cut off, and what writes them.
func cutOff(t *testing.T, names ...string) (dir string, write func(text string, names ...string)) {
	t.Helper()
	dir = paths.Real(t.TempDir())
	state := loopstate.State{Active: true, Iteration: 1, LoopID: "ralph-cutoff", Prompt: "x", AgentChoice: loopstate.AgentChoice{Backend: "claude"}, Begun: true}
	file, err := loopstate.Open(dir)
	must.OK(t, err)
	must.OK(t, file.Create(state))
	write = func(text string, names ...string) {
		t.Helper()
		for _, name := range names {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Error(err)
			}
		}
	}
	write("before", names...)
	s, err := changes.Create(t.Context(), dir, state.LoopID, changes.Options{Keep: time.Hour, Skip: loopstate.OwnFiles()}, nil)
	must.OK(t, err)
	must.OK(t, must.Err(s.Snapshots.Start(t.Context())))
	must.OK(t, s.Snapshots.Begin(1))
	write("the agent's", names...)
	return dir, write
}

func saved(c *dialled, dir, name string) {
	c.Notify("textDocument/didSave", map[string]any{"textDocument": map[string]any{"uri": wire.FileURI(filepath.Join(dir, name))}})
}

// What this editor's user saves after a run was cut off is no work of that run, whatever kind of file it is.
func TestWhatTheEditorSavesBehindACutOffRunIsItsUsers(t *testing.T) {
	t.Parallel()
	dir, write := cutOff(t, "a.go", "b.go")
	c := dial(t, optedIn, dir)
	c.status(dir, inState("interrupted"))
	write("the user's", "b.go")
	saved(c, dir, "b.go")
	c.Must(c.Command(wire.CommandUndo, map[string]any{"folder": wire.FileURI(dir), "since": 1})) // at once, as a key does it
	if a, b := readFile(t, filepath.Join(dir, "a.go")), readFile(t, filepath.Join(dir, "b.go")); a != "before" || b != "the user's" {
		t.Errorf("%q and %q", a, b)
	}
}

// Who looks at what a loop changed waits until it knows what was saved, and who reads its log doesn't.
func TestReadingALogWaitsForNoSave(t *testing.T) {
	t.Parallel()
	dir, _ := cutOff(t, "a.go")
	m, _ := askedManager(t, dir)
	told := make(chan struct{})
	t.Cleanup(func() { close(told) })
	m.Saved(func() { <-told })
	hurried, cancel := context.WithCancel(t.Context())
	cancel()
	of := wire.LoopParams{Folder: wire.FileURI(dir)}
	if _, err := m.reader.log(hurried, of, ""); errors.Is(err, context.Canceled) {
		t.Errorf("a log: %v", err)
	}
	if _, err := m.launcher.loops.Work(hurried, of); !errors.Is(err, context.Canceled) {
		t.Errorf("what it changed: %v", err)
	}
}

// A user who is asked before an undo may save files before they say yes: these are theirs, too, and stay.
func TestWhatIsSavedWhileAnUndoAsksIsItsUsers(t *testing.T) {
	t.Parallel()
	dir, write := cutOff(t, "a.go", "b.go", "c.go")
	c := dial(t, plain, dir)
	write("the user's", "b.go")
	saved(c, dir, "b.go")
	c.Answer("window/showMessageRequest", func(question json.RawMessage) any {
		if !strings.Contains(string(question), `"Undo all since iteration 1? It takes back a.go, c.go.`) {
			return nil // whether the loop is to go on
		}
		write("the user's", "c.go")
		saved(c, dir, "c.go")
		return session.MessageItem{Title: session.ActionUndo}
	})
	c.Must(c.Command(wire.CommandUndo, map[string]any{"folder": wire.FileURI(dir), "since": 1}))
	for name, want := range map[string]string{"a.go": "before", "b.go": "the user's", "c.go": "the user's"} {
		if got := readFile(t, filepath.Join(dir, name)); got != want {
			t.Errorf("%s has %q, want %q", name, got, want)
		}
	}
}
