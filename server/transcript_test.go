package server

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ralph-lsp/history"
	"ralph-lsp/internal/clienttest"
	"ralph-lsp/loop"
	"ralph-lsp/looplog"
	"ralph-lsp/server/feed"
	"ralph-lsp/server/rpc"
	"ralph-lsp/stream"
	"ralph-lsp/wire"
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

// lasting are the kinds of updates of which a transcript has the same as the
// live view: the rest is how things came about.
var lasting = []string{wire.KindMessageChunk, wire.KindToolCall, wire.KindIteration, wire.KindUsage, wire.KindPromise, wire.KindEnd}

// A past loop's end has no title: its session has one of its own.
var withoutTitle = regexp.MustCompile(`"title":"[0-9]+",`)

func lastingOnly(t *testing.T, updates []json.RawMessage) (kept []string) {
	t.Helper()
	for _, raw := range updates {
		var u struct{ SessionUpdate string }
		if err := json.Unmarshal(raw, &u); err != nil {
			t.Fatal(err)
		}
		if slices.Contains(lasting, u.SessionUpdate) {
			kept = append(kept, withoutTitle.ReplaceAllString(string(raw), ""))
		}
	}
	return kept
}

func TestATranscriptIsWhatWasLive(t *testing.T) {
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	id := finished(t, c, dir)
	c.Hears("ralph/update", `"_ralph/end"`)
	live := result[wire.OutputResult](c, c.Command(wire.CommandOutput, wire.OutputParams{LoopID: id}))
	read := result[wire.TranscriptResult](c, c.Command(wire.CommandTranscript, wire.TranscriptParams{LoopID: id}))
	was, is := lastingOnly(t, live.Updates), lastingOnly(t, read.Updates)
	if !slices.Equal(was, is) || len(is) < 7 || read.NextCursor != "" || read.SkippedLines != 0 {
		t.Errorf("live\n%s\ntranscript\n%s", strings.Join(was, "\n"), strings.Join(is, "\n"))
	}
}

// TestAfterARestart asks another server for the loops of the one before.
func TestAfterARestart(t *testing.T) {
	dir := t.TempDir()
	id := finished(t, dial(t, optedIn, dir), dir)
	c := dial(t, optedIn, dir)
	past := result[wire.HistoryResult](c, c.Command(wire.CommandHistory, wire.HistoryParams{}))
	if len(past.Loops) != 1 || past.Loops[0].LoopID != id || past.Loops[0].Title != "Build X" || past.Loops[0].Iterations != 2 {
		t.Fatalf("history %+v", past)
	}
	byID := result[wire.TranscriptResult](c, c.Command(wire.CommandTranscript, wire.TranscriptParams{LoopID: id}))
	byFile := result[wire.TranscriptResult](c, c.Command(wire.CommandTranscript, wire.TranscriptParams{SessionFileURI: past.Loops[0].SessionFileURI}))
	if len(byID.Updates) == 0 || len(byID.Updates) != len(byFile.Updates) {
		t.Errorf("%d updates by id, %d by file", len(byID.Updates), len(byFile.Updates))
	}
}

func TestARunningLoopIsNoPastOne(t *testing.T) {
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	started := result[wire.StartResult](c, c.Command(wire.CommandStart, map[string]any{"prompt": "Build X", "backend": agentThat(t, "never")}))
	c.Hears("ralph/update", "working")
	if past := result[wire.HistoryResult](c, c.Command(wire.CommandHistory, wire.HistoryParams{Limit: 5})); len(past.Loops) != 0 {
		t.Errorf("history %+v", past)
	}
	read := result[wire.TranscriptResult](c, c.Command(wire.CommandTranscript, wire.TranscriptParams{LoopID: started.LoopID}))
	if len(read.Updates) == 0 {
		t.Error("a running loop has no transcript")
	}
}

func TestTranscriptsThatAreNone(t *testing.T) {
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	notes := filepath.Join(dir, "notes.md")
	if err := os.WriteFile(notes, []byte("# Notes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		argument wire.TranscriptParams
		code     int
		reason   string
	}{
		"nothing named": {wire.TranscriptParams{}, rpc.CodeInvalidParams, ""},
		"unknown loop":  {wire.TranscriptParams{LoopID: "ralph-x"}, rpc.CodeRequestFailed, wire.ReasonNoSession},
		"no session":    {wire.TranscriptParams{SessionFileURI: wire.FileURI(notes)}, rpc.CodeRequestFailed, wire.ReasonNoSession},
		"no file":       {wire.TranscriptParams{SessionFileURI: wire.FileURI(notes + "x")}, rpc.CodeRequestFailed, wire.ReasonNoSession},
		"no file URI":   {wire.TranscriptParams{SessionFileURI: "http://x"}, rpc.CodeRequestFailed, wire.ReasonNoSession},
		"bad cursor":    {wire.TranscriptParams{SessionFileURI: wire.FileURI(notes), Cursor: "7"}, rpc.CodeInvalidParams, ""},
	} {
		m := c.Command(wire.CommandTranscript, tt.argument)
		if got := reason(t, m); got != tt.reason || m.Error.Code != tt.code {
			t.Errorf("%s: %d %q (%s), want %d %q", name, m.Error.Code, got, m.Error.Message, tt.code, tt.reason)
		}
	}
}

// TestPages reads a session in pages of each size and wants the same updates.
func TestPages(t *testing.T) {
	const path = "../testdata/pi-sessions/pi-sess.jsonl"
	whole, err := ReadTranscript(context.Background(), path, "", 0, true)
	if err != nil || len(whole.Updates) < 10 {
		t.Fatal(len(whole.Updates), err)
	}
	for limit := 1; limit <= len(whole.Updates)+1; limit++ {
		var pages []string
		for cursor := ""; ; {
			page, err := ReadTranscript(context.Background(), path, cursor, limit, true)
			if err != nil || len(page.Updates) > limit {
				t.Fatalf("limit %d: %d updates, %v", limit, len(page.Updates), err)
			}
			for _, u := range page.Updates {
				pages = append(pages, string(u))
			}
			if cursor = page.NextCursor; cursor == "" {
				break
			}
		}
		if len(pages) != len(whole.Updates) {
			t.Fatalf("limit %d: %d updates, want %d", limit, len(pages), len(whole.Updates))
		}
		for i, u := range whole.Updates {
			if pages[i] != string(u) {
				t.Errorf("limit %d: update %d is %s, want %s", limit, i, pages[i], u)
			}
		}
	}
}

func TestALongTextComesInPieces(t *testing.T) {
	text := strings.Repeat("é", wire.MaxText)
	path := filepath.Join(t.TempDir(), "x.jsonl")
	session := `{"type":"session","version":3,"id":"1","cwd":"/"}` + "\n" + `{"type":"message","id":"2","message":{"role":"user","content":"` + text + `"}}` + "\n"
	if err := os.WriteFile(path, []byte(session), 0o600); err != nil {
		t.Fatal(err)
	}
	page, err := ReadTranscript(context.Background(), path, "", 0, false)
	if err != nil {
		t.Fatal(err)
	}
	joined := ""
	for _, raw := range page.Updates {
		var u wire.Chunk
		if err := json.Unmarshal(raw, &u); err != nil || u.SessionUpdate != wire.KindUserChunk {
			t.Fatal(string(raw), err)
		}
		joined += u.Content.Text
	}
	if joined != text || len(page.Updates) < 2 {
		t.Errorf("%d pieces of %d bytes", len(page.Updates), len(joined))
	}
}

// TestACutOffToolEndsAsItsTranscriptSays has tools that still run when their
// run is ended: the live view has to end them too.
func TestACutOffToolEndsAsItsTranscriptSays(t *testing.T) {
	dir := t.TempDir()
	writer, err := history.NewWriter(history.Options{Folder: dir}, dir)
	if err != nil {
		t.Fatal(err)
	}
	ed := &clienttest.Editor{Is: clienttest.Full}
	live := feed.New(ed, new(looplog.Pages), func(bool) {})
	live.Start("l1", func() loop.Status { return loop.Status{State: loop.StateRunning} })
	writer.HandleRecord(history.LoopStart{LoopID: "l1"})
	for iteration := range 2 {
		live.HandleLoop(loop.IterationStart{Iteration: iteration + 1})
		writer.HandleRecord(history.IterationStart{Iteration: iteration + 1})
		for _, e := range []stream.Event{
			stream.ToolCall{ID: "t1", Name: "bash"},
			stream.ToolCall{ID: "t2", Name: "Task"},
			stream.ToolCall{ID: "t3", Name: "bash", ParentToolCallID: "t2"},
			stream.ToolProgress{ID: "t3", Output: "half"},
			stream.ToolResult{ID: "t1", Output: "all"},
		} {
			live.Handle(e)
			writer.Handle(e)
		}
		live.HandleLoop(loop.IterationEnd{Iteration: iteration + 1, Outcome: loop.OutcomeTimeout})
		writer.HandleRecord(history.IterationEnd{Iteration: iteration + 1, Outcome: "timeout"})
	}
	live.Close()
	<-live.Done()
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	page, err := ReadTranscript(t.Context(), writer.Path(), "", 0, false)
	if err != nil {
		t.Fatal(err)
	}
	ends := func(updates []clienttest.Seen) (said []string) {
		for _, u := range updates {
			switch {
			case u.SessionUpdate == wire.KindToolCallUpdate && u.Status != wire.StatusInProgress:
				said = append(said, u.ToolCallID+" "+u.Status+" "+u.Text(t))
			case u.SessionUpdate == wire.KindIteration:
				said = append(said, u.Phase)
			}
		}
		return said
	}
	was, is := ends(ed.Updates(t)), ends(clienttest.DecodeUpdates(t, page.Updates))
	one := []string{"begin", "t1 completed all", "t2 failed interrupted", "t3 failed interrupted", "end"}
	if want := slices.Concat(one, one); !slices.Equal(was, want) || !slices.Equal(is, want) {
		t.Errorf("live %q\ntranscript %q\nwant %q", was, is, want)
	}
}
