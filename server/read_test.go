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

// heard are all updates that a client was notified of.
func heard(t *testing.T, c *dialled) (updates []json.RawMessage, last wire.UpdateParams) {
	t.Helper()
	for _, m := range c.Heard() {
		if m.Method != wire.MethodUpdate {
			continue
		}
		var p wire.UpdateParams
		clienttest.Decode(t, m.Params, &p)
		if p.After == "" || last.Cursor != "" && p.After != last.Cursor {
			t.Errorf("a notification behind %q follows one up to %q", p.After, last.Cursor)
		}
		updates, last = append(updates, p.Updates...), p
	}
	return updates, last
}

func TestALoopIsReadAsItWasLive(t *testing.T) {
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	id := finished(t, c, dir)
	c.Hears("ralph/update", `"_ralph/end"`)
	was, last := heard(t, c)
	is, page := readAll(t, c, wire.ReadParams{LoopParams: wire.LoopParams{LoopID: id}, Limit: 3})
	compareLogs(t, logOf(t, was), logOf(t, is))
	if len(is) < 7 || page.SkippedLines != 0 || page.Reset {
		t.Errorf("%d updates, %+v", len(is), page)
	}
	for !page.Complete { // the end is told a moment before all is in the file
		_, page = readAll(t, c, wire.ReadParams{LoopParams: wire.LoopParams{LoopID: id}, After: page.Cursor})
	}
	if rest, page := readAll(t, c, wire.ReadParams{LoopParams: wire.LoopParams{LoopID: id}, After: last.Cursor}); len(rest) > 0 || !page.Complete {
		t.Errorf("behind the last cursor: %s", rest)
	}
}

// TestALogInParts reads the parts of a log, and what comes behind, of a loop
// that has just run here and of one that is kept.
func TestALogInParts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ran := dial(t, optedIn, dir)
	id := wire.LoopParams{LoopID: finished(t, ran, dir)}
	all, _ := readAll(t, ran, wire.ReadParams{LoopParams: id})
	for name, c := range map[string]*dialled{"here": ran, "kept": dial(t, optedIn, dir)} {
		o := result[wire.Outline](c, c.Command(wire.CommandOutline, wire.OutlineParams{LoopParams: id}))
		if name == "kept" && (len(o.Parts) != 3 || len(o.Iterations) != 2) { // one is before the first iteration
			t.Errorf("%s: %+v", name, o)
		}
		var updates []json.RawMessage
		for i, part := range o.Parts {
			p := wire.ReadParams{LoopParams: id, After: part.Cursor, Before: o.Cursor}
			if i+1 < len(o.Parts) {
				p.Before = o.Parts[i+1].Cursor
			}
			some, _ := readAll(t, c, p)
			updates = append(updates, some...)
		}
		rest, page := readAll(t, c, wire.ReadParams{LoopParams: id, After: o.Cursor})
		if page.Reset {
			t.Errorf("%s: the end of the outline isn't known", name)
		}
		compareLogs(t, logOf(t, all), logOf(t, slices.Concat(updates, rest)))
	}
}

// TestAnotherServerReadsOn has cursors of a server that is gone.
func TestAnotherServerReadsOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := dial(t, optedIn, dir)
	id := finished(t, first, dir)
	all, _ := readAll(t, first, wire.ReadParams{LoopParams: wire.LoopParams{LoopID: id}})
	part := result[answers.ReadResult](first, first.Command(wire.CommandRead, wire.ReadParams{LoopParams: wire.LoopParams{LoopID: id}, Limit: 4}))

	c := dial(t, optedIn, dir)
	past := result[answers.HistoryResult](c, c.Command(wire.CommandHistory, answers.HistoryParams{}))
	if len(past.Loops) != 1 || past.Loops[0].LoopID != id || past.Loops[0].Title != "Build X" || past.Loops[0].Iterations != 2 {
		t.Fatalf("history %+v", past)
	}
	for name, p := range map[string]wire.ReadParams{
		"by id":     {LoopParams: wire.LoopParams{LoopID: id}},
		"by file":   {SessionFileURI: past.Loops[0].SessionFileURI},
		"by folder": {},
	} {
		p.After = part.Cursor
		rest, page := readAll(t, c, p)
		if !page.Complete || page.Reset {
			t.Errorf("%s: %+v", name, page)
		}
		compareLogs(t, logOf(t, all), logOf(t, slices.Concat(part.Updates, rest)))
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
	if err := os.WriteFile(notes, []byte("# Notes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
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
