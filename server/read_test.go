package server

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/clienttest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/server/rpc"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// finished runs a loop of two iterations to its end and returns its id.
func finished(t *testing.T, c *dialled, dir string) string {
	t.Helper()
	started := result[wire.StartResult](c, c.Command(wire.CommandStart, map[string]any{
		"text": `"Build X" --completion-promise "DONE" --max-iterations=20`, "backend": agentThat(t, "promises")}))
	if !strings.HasSuffix(started.SessionFileURI, ".jsonl") {
		t.Errorf("the start names the session %q", started.SessionFileURI)
	}
	ended := c.status(dir, inState("ended"))
	if ended.SessionFileURI != started.SessionFileURI {
		t.Errorf("the status names the session %q", ended.SessionFileURI)
	}
	return started.LoopID
}

// readAll reads a log page by page from a cursor to its present end.
func readAll(t *testing.T, c *dialled, p wire.ReadParams) (updates []json.RawMessage, last answers.ReadResult) {
	t.Helper()
	for {
		last = result[answers.ReadResult](c, c.Command(wire.CommandRead, p))
		updates = append(updates, last.Updates...)
		if p.After = last.Cursor; !last.More {
			return updates, last
		}
	}
}

func TestARunningLoopIsRead(t *testing.T) {
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	started := result[wire.StartResult](c, c.Command(wire.CommandStart, map[string]any{"prompt": "Build X", "backend": agentThat(t, "never")}))
	c.Hears("ralph/update", "working")
	if past := result[answers.HistoryResult](c, c.Command(wire.CommandHistory, answers.HistoryParams{Limit: 5})); len(past.Loops) != 0 {
		t.Errorf("history %+v", past)
	}
	for _, p := range []wire.ReadParams{{}, {LoopParams: wire.LoopParams{LoopID: started.LoopID}}, {SessionFileURI: started.SessionFileURI}} {
		updates, page := readAll(t, c, p)
		if page.Complete || !strings.Contains(string(slices.Concat(updates...)), "working") {
			t.Errorf("%+v: %s", page, updates)
		}
	}
}

// TestACursorOfAnotherLog isn't an error: the log begins anew.
func TestACursorOfAnotherLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	id := finished(t, c, dir)
	c.Hears("ralph/update", `"_ralph/end"`) // nothing comes behind it
	all, _ := readAll(t, c, wire.ReadParams{})
	for _, cursor := range []string{"7", "e30", "eyJsb2ciOiJ4IiwiYXQiOjd9"} {
		page := result[answers.ReadResult](c, c.Command(wire.CommandRead, wire.ReadParams{LoopParams: wire.LoopParams{LoopID: id}, After: cursor}))
		if !page.Reset || len(page.Updates) != len(all) {
			t.Errorf("behind %q: %d updates of %d, reset %v", cursor, len(page.Updates), len(all), page.Reset)
		}
	}
}

func TestLogsThatAreNone(t *testing.T) {
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	notes := filepath.Join(dir, "notes.md")
	must.OK(t, os.WriteFile(notes, []byte("# Notes\n"), 0o600))
	for name, p := range map[string]wire.ReadParams{
		"nothing was kept": {},
		"unknown loop":     {LoopParams: wire.LoopParams{LoopID: "ralph-x"}},
		"no session":       {SessionFileURI: wire.FileURI(notes)},
		"no file":          {SessionFileURI: wire.FileURI(notes + "x")},
		"no file URI":      {SessionFileURI: "http://x"},
	} {
		m := c.Command(wire.CommandRead, p)
		if got := reason(t, m); got != wire.ReasonNoSession || m.Error.Code != rpc.CodeRequestFailed {
			t.Errorf("%s: %d %q (%s)", name, m.Error.Code, got, m.Error.Message)
		}
	}
}

// Any client that has LSP 3.18's textDocumentContent shows a transcript, and is told when there is more.
func TestATranscriptIsADocument(t *testing.T) {
	dir := t.TempDir()
	c := dial(t, plain, dir)
	c.Answer("workspace/textDocumentContent/refresh", func(json.RawMessage) any { return nil })
	id := result[wire.StartResult](c, c.Command(wire.CommandStart, map[string]any{
		"text": `"Build X" --completion-promise "DONE" --max-iterations=20`, "backend": agentThat(t, "promises")})).LoopID
	uri := "ralph-loop:/" + id + "/Ralph%20app.md"
	shows := func() string {
		var content struct{ Text string }
		clienttest.Decode(t, c.Must(c.Call("workspace/textDocumentContent", map[string]any{"uri": uri})), &content)
		return content.Text
	}
	told := 0
	for text := shows(); !strings.Contains(text, "**done: DONE"); text = shows() {
		c.Until("news of the transcript", func(heard []lsptest.Message) bool {
			n := 0
			for _, m := range heard {
				if m.Method == "workspace/textDocumentContent/refresh" && strings.Contains(string(m.Params), uri) {
					n++
				}
			}
			was := told
			told = n
			return n > was
		})
	}
	if text := shows(); !strings.Contains(text, "## Iteration 1 of 20") {
		t.Errorf("it shows %s", text)
	}
	if m := c.Call("workspace/textDocumentContent", map[string]any{"uri": "ralph-loop:/no-such-loop"}); m.Error == nil {
		t.Error("a loop that isn't there has a transcript")
	}
}
