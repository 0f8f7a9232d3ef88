package history

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// toolGives writes a turn whose tool gave an output.
func toolGives(w *Writer, id, output string) {
	w.Handle(stream.ToolCall{ID: id, Name: "bash"})
	w.Handle(stream.ToolResult{ID: id, Output: output})
	w.Handle(stream.TurnEnd{})
}

func TestTheOutputOfAnIteration(t *testing.T) {
	w, _, _ := newTestWriter(t)
	w.HandleRecord(begins(1))
	toolGives(w, "t1", "first")
	w.HandleRecord(ends(1, "ok", stream.Cost{}))
	w.HandleRecord(begins(2))
	toolGives(w, "t1", "second\n"+strings.Repeat("x", 1<<20))
	w.HandleRecord(ends(2, "ok", stream.Cost{}))
	path := closed(t, w)
	for _, tt := range []struct {
		iteration int
		call      string
		want      string
	}{{1, "t1", "first"}, {2, "t1", "second\n" + strings.Repeat("x", 1<<20)}, {3, "t1", ""}, {1, "t2", ""}, {0, "t1", ""}} {
		got, ok, err := Output(path, tt.iteration, tt.call)
		if got != tt.want || ok != (tt.want != "") || err != nil {
			t.Errorf("%s of %d: %d bytes, %v, %v", tt.call, tt.iteration, len(got), ok, err)
		}
	}
	other := filepath.Join(t.TempDir(), "notes.txt")
	must.OK(t, os.WriteFile(other, []byte("hello\n"), 0o600))
	if _, _, err := Output(other, 1, "t1"); !errors.As(err, new(*FormatError)) {
		t.Errorf("of no session: %v", err)
	}
}

func TestTheLastWordsOfASession(t *testing.T) {
	w, _, _ := newTestWriter(t)
	begin(w, 1)
	sayTurns(w, "first", "All is done.", " \n")
	toolGives(w, "t1", "no words")
	w.Handle(stream.MessageEnd{MessageID: "s1", Text: "a subagent's", ParentToolCallID: "t1"})
	w.HandleRecord(ends(1, "ok", stream.Cost{}))
	path := closed(t, w)
	if got := LastWords(path); got != "All is done." {
		t.Errorf("they are %q", got)
	}
	if got := LastWords(path + "x"); got != "" {
		t.Errorf("of no file: %q", got)
	}
}

func TestFilesThatAreNoSessions(t *testing.T) {
	for name, content := range map[string]string{
		"empty": "", "prose": "# Notes\n\nThis is no session.\n", "another object": "{\"name\":\"package\"}\n", "an entry": asks + "\n",
		"pi's own": head + "\n" + asks + "\n", "numbers": "1\n2\n", "one long line": strings.Repeat("x", maxLine+10),
	} {
		path := sessionFile(t, content)
		if _, err := LoopOf(path); !errors.As(err, new(*FormatError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, path := range []string{t.TempDir(), os.DevNull} {
		if _, err := LoopOf(path); err == nil || errors.As(err, new(*FormatError)) {
			t.Errorf("%s was opened: %v", path, err)
		}
	}
}
