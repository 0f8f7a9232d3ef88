package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		must.OK(t, os.WriteFile(path, []byte(got), 0o644))
	}
	if want := read(t, path); got != want {
		t.Errorf("%s:\n%s\nwant\n%s", path, got, want)
	}
}

// mirror writes a recorded stream as a loop of one iteration and returns its session.
func mirror(t testing.TB, format decode.Format, recording string) (path string) {
	t.Helper()
	w, _, _ := newTestWriter(t)
	begin(w, 1)
	w.HandleRecord(Input{Kind: InputAgent, Text: "Mind the tests"})
	outcome := "ok"
	f, err := os.Open(recording)
	must.OK(t, err)
	defer f.Close()
	result, err := decode.Reader{Format: format, Handler: w}.Run(f)
	must.OK(t, err)
	if !result.Terminal {
		outcome = "cancelled"
	}
	w.HandleRecord(ends(1, outcome, result.Usage.Cost))
	w.HandleRecord(LoopEnd{StopReason: "promise"})
	return closed(t, w)
}

func begin(w *Writer, iteration int) {
	w.HandleRecord(LoopStart{LoopID: "ralph-1", Title: "Build it\nnow"})
	w.HandleRecord(begins(iteration))
	w.HandleRecord(Input{Kind: InputCallback, Text: "Build it\nnow"})
}

// begins is what a loop tells when an iteration begins.
func begins(n int) IterationStart { return IterationStart{Iteration: n} }

// ends is what it tells at its end.
func ends(n int, outcome string, cost stream.Cost) IterationEnd {
	return IterationEnd{Iteration: n, Outcome: outcome, Cost: cost}
}

// newTestWriter returns a writer with folders of its own.
func newTestWriter(t testing.TB) (w *Writer, o Options, cwd string) {
	t.Helper()
	o, cwd = Options{Folder: t.TempDir()}, paths.Real(t.TempDir())
	w, err := NewWriter(o, cwd)
	must.OK(t, err)
	return w, o, cwd
}

func closed(t testing.TB, w *Writer) string {
	t.Helper()
	must.OK(t, errors.Join(w.Close(), w.Err()))
	return w.Path()
}

var (
	generated = regexp.MustCompile(`"(id|parentId)":"[0-9a-f-]+"`)
	moments   = regexp.MustCompile(`"timestamp":("[^"]*"|\d+)`)
)

// TestEntriesAreLaidOutAsOthersReadThem pins what is written, as pi reads it.
func TestEntriesAreLaidOutAsOthersReadThem(t *testing.T) {
	w, _, cwd := newTestWriter(t)
	w.HandleRecord(LoopStart{LoopID: "ralph-1", Title: "Build it\n now"})
	w.HandleRecord(begins(1))
	w.HandleRecord(Input{Kind: InputCallback, Text: "Build it\n now"})
	w.HandleRecord(Input{Kind: InputAgent, Text: "Mind the <tests>"})
	for _, e := range []stream.Event{
		stream.SessionStart{Backend: "pi", Provider: "anthropic", Model: "m"},
		stream.Text{Delta: "Look", MessageID: "m1"}, stream.Text{Delta: "ing.", MessageID: "m1"},
		stream.MessageEnd{MessageID: "m1", Text: "Looking."},
		stream.ToolCall{ID: "t1", Name: "bash", Input: json.RawMessage(`{"command":"ls"}`)},
		stream.ToolResult{ID: "t1", Output: "a.txt"},
		stream.TurnEnd{StopReason: "toolUse", Usage: stream.Usage{Tokens: stream.Tokens{Input: 3, Output: 4}, Cost: stream.USD(0.5)}},
		stream.ToolResult{ID: "t9", Output: "of nothing"},
		stream.ToolCall{ID: "t2", Name: "Task"},
		stream.ToolCall{ID: "t3", Name: "Read", ParentToolCallID: "t2"},
		stream.ToolResult{ID: "t3", Output: "sub", ParentToolCallID: "t2"},
		stream.MessageEnd{MessageID: "s1", Text: "sub says", ParentToolCallID: "t2"},
	} {
		w.Handle(e)
	}
	w.HandleRecord(ends(1, "cancelled", stream.USD(0.5)))
	w.HandleRecord(LoopEnd{StopReason: "cancelled"})
	content := read(t, closed(t, w))
	content = strings.ReplaceAll(content, cwd, "/w")
	content = generated.ReplaceAllString(content, `"$1":"-"`)
	content = moments.ReplaceAllString(content, `"timestamp":"-"`)
	golden(t, "testdata/layout.jsonl", content)
}

func TestWhatIsMirroredIsInOrder(t *testing.T) {
	recordings, err := filepath.Glob("../testdata/*/*.jsonl")
	must.OK(t, err)
	formats := map[string]decode.Format{"pi": decode.FormatPi, "pi-old": decode.FormatPi, "pi-rpc": decode.FormatPi, "claude": decode.FormatClaude}
	for _, recording := range recordings {
		format, ok := formats[filepath.Base(filepath.Dir(recording))]
		if !ok {
			continue
		}
		path := mirror(t, format, recording)
		if found := faults(t, path); found != nil {
			t.Errorf("%s: %q", recording, found)
		}
	}
}

func TestContinuedLoopsGoOnInTheirFile(t *testing.T) {
	w, o, cwd := newTestWriter(t)
	begin(w, 1)
	path := closed(t, w)
	must.OK(t, appendTo(path, `{"type":"message","id":"77777777","parentId":null,"message":{"role":"us`))
	w, err := ContinueWriter(o, cwd, path)
	must.OK(t, err)
	w.HandleRecord(LoopStart{LoopID: "ralph-1", Continued: true})
	w.HandleRecord(begins(2))
	if closed(t, w) != path {
		t.Errorf("it goes on in %s", w.Path())
	}
	if found := faults(t, path); found != nil {
		t.Errorf("%q", found)
	}
	lines := strings.Split(strings.TrimSpace(read(t, path)), "\n")
	if last := lines[len(lines)-1]; len(lines) != 7 || !strings.Contains(last, `"iteration":2`) {
		t.Errorf("%d lines, the last is %s", len(lines), last)
	}
}

// A state file comes with a repository: it mustn't choose what is written to.
func TestOnlyAFoldersOwnSessionsAreContinued(t *testing.T) {
	w, o, cwd := newTestWriter(t)
	begin(w, 1)
	path := closed(t, w)
	outside := sessionFile(t, strings.Replace(head, `"/w"`, `"`+cwd+`"`, 1)+"\n")
	link := filepath.Join(o.Folder, "link.jsonl")
	must.OK(t, os.Symlink(outside, link))
	notes := filepath.Join(o.Folder, "notes.jsonl")
	must.OK(t, os.WriteFile(notes, []byte("{\"type\":\"note\"}\n"), 0o600))
	for _, name := range []string{outside, link, notes, o.Folder, filepath.Join(o.Folder, "..", filepath.Base(o.Folder))} {
		if _, err := ContinueWriter(o, cwd, name); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	if _, err := ContinueWriter(o, t.TempDir(), path); err == nil || !strings.Contains(err.Error(), "belongs to the folder") {
		t.Errorf("another folder's: %v", err)
	}
	if _, err := ContinueWriter(o, cwd, path+"x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("one that is gone: %v", err)
	}
}

func TestSwitchedOffNothingIsWritten(t *testing.T) {
	w, err := NewWriter(Options{Off: true}, t.TempDir())
	if err != nil || w != nil {
		t.Fatal(w, err)
	}
	begin(w, 1)
	w.Handle(stream.Text{Delta: "x"})
	if w.Path() != "" || w.Err() != nil || w.Close() != nil {
		t.Error("a nil writer does something")
	}
}

func TestAFolderThatCantBeMadeIsTold(t *testing.T) {
	file := sessionFile(t, "")
	w, err := NewWriter(Options{Folder: filepath.Join(file, "below")}, t.TempDir())
	must.OK(t, err)
	begin(w, 1)
	if w.Err() == nil || !strings.Contains(w.Err().Error(), "writing the session file") {
		t.Errorf("got %v", w.Err())
	}
}

func TestFolders(t *testing.T) {
	home, err := os.UserHomeDir()
	must.OK(t, err)
	cwd := paths.Real(t.TempDir())
	name := "--" + strings.ReplaceAll(strings.TrimPrefix(cwd, "/"), "/", "-") + "--"
	for _, tt := range []struct{ name, agentDir, sessionDir, state, folder, want string }{
		{"pi's own", "", "", "", "", home + "/.pi/agent/sessions/" + name},
		{"pi's, moved", "/agent", "", "", "", "/agent/sessions/" + name},
		{"pi's, moved below home", "~/x", "", "", "", home + "/x/sessions/" + name},
		{"pi's sessions, moved", "/agent", "/sessions", "", "", "/sessions"},
		{"of a folder that goes", "/agent", "", "/kept", "", "/kept/sessions"},
		{"of a folder that goes, and pi's sessions, moved", "/agent", "/sessions", "/kept", "", "/sessions"},
		{"set, beside the code", "/agent", "/sessions", "", ".pi/kept", filepath.ToSlash(cwd) + "/.pi/kept"},
		{"set", "/agent", "/sessions", "", "~/kept", home + "/kept"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv(envAgentDir, tt.agentDir)
			t.Setenv(envSessionDir, tt.sessionDir)
			t.Setenv(paths.EnvState, tt.state)
			if got, err := (Options{Folder: tt.folder}).dir(cwd); err != nil || filepath.ToSlash(got) != tt.want {
				t.Errorf("got %s %v, want %s", got, err, tt.want)
			}
		})
	}
	if got := folderName(`C:\Users\me`); got != "--C--Users-me--" {
		t.Errorf("on Windows it is %s", got)
	}
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// TestAMessageThatNeverEnds comes in pieces, and reads as it was shown.
func TestAMessageThatNeverEnds(t *testing.T) {
	w, _, _ := newTestWriter(t)
	line := strings.Repeat("x", 99) + "\n"
	var shown strings.Builder
	for shown.Len() < 3*maxPiece {
		shown.WriteString(line)
		w.Handle(stream.Text{Delta: line, MessageID: "m1"})
	}
	w.Handle(stream.MessageEnd{MessageID: "m1", Text: "only the end"})
	w.HandleRecord(ends(1, "ok", stream.Cost{}))
	var got strings.Builder
	for e, err := range entries(closed(t, w), markAssistant) {
		must.OK(t, err)
		got.WriteString(e.text())
	}
	if got.String() != shown.String() {
		t.Errorf("%d bytes are read, want %d", got.Len(), shown.Len())
	}
}

// An agent that tells what a model call has cost before its tools run, and again at the
// end of the turn, has paid once.
func TestAModelCallThatIsToldEarlyCountsOnce(t *testing.T) {
	call := stream.Usage{Tokens: stream.Tokens{Input: 3}, Cost: stream.USD(0.5), Context: 3}
	withTool := stream.Usage{Tokens: stream.Tokens{Input: 5}, Cost: stream.USD(2.5), Context: 3}
	begin := []stream.Event{stream.MessageEnd{MessageID: "m1", Text: "x"}, call, stream.ToolCall{ID: "t1", Name: "bash"}}
	end := stream.TurnEnd{StopReason: "toolUse", Usage: call}
	for name, tt := range map[string]struct {
		events      []stream.Event // behind begin
		want        stream.Usage
		corrections int
	}{
		"a whole turn":           {[]stream.Event{stream.ToolResult{ID: "t1"}, end}, call, 0},
		"a tool that spends":     {[]stream.Event{withTool, stream.ToolResult{ID: "t1"}, end}, withTool, 1},
		"stopped in the tool":    {nil, call, 1},
		"a turn that is written": {[]stream.Event{stream.ToolResult{ID: "t1", Output: strings.Repeat("x", maxPiece+1)}, end}, call, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w, _, _ := newTestWriter(t)
			w.HandleRecord(begins(1))
			for _, e := range append(slices.Clone(begin), tt.events...) {
				w.Handle(e)
			}
			w.HandleRecord(ends(1, "ok", stream.Cost{}))
			path := closed(t, w)
			var used float64 // as pi adds it up
			for line := range strings.Lines(read(t, path)) {
				var e struct {
					Message struct{ Usage usage }
					Usage   usage
				}
				must.OK(t, json.Unmarshal([]byte(line), &e))
				used += e.Message.Usage.Cost.Total + e.Usage.Cost.Total
			}
			if used != tt.want.Cost.USD {
				t.Errorf("pi counts $%v, want %+v", used, tt.want)
			}
			if n := strings.Count(read(t, path), `"kind":"correction"`); n != tt.corrections {
				t.Errorf("%d corrections, want %d", n, tt.corrections)
			}
		})
	}
}

// TestUnbelievableAmountsAreWrittenAsUnknown has what JSON has no words for.
func TestUnbelievableAmountsAreWrittenAsUnknown(t *testing.T) {
	w, _, _ := newTestWriter(t)
	w.HandleRecord(LoopStart{LoopID: "ralph-1"})
	w.HandleRecord(begins(1))
	for _, usd := range []float64{1e308, 1e308, math.NaN(), 1e300, 2} {
		turn := stream.Usage{Cost: stream.USD(usd), Tokens: stream.Tokens{Input: 1}}
		w.Handle(stream.Text{Delta: "x", MessageID: "m"})
		w.Handle(stream.MessageEnd{MessageID: "m", Text: "x"})
		w.Handle(stream.TurnEnd{StopReason: "stop", Usage: turn})
		w.Handle(turn)
	}
	w.Handle(stream.Error{Message: "limit", ResetsAt: time.Date(292000, 1, 1, 0, 0, 0, 0, time.UTC)})
	w.HandleRecord(ends(1, "ok", stream.USD(math.Inf(1))))
	if found := faults(t, closed(t, w)); found != nil {
		t.Errorf("%q", found)
	}
}

// What an agent says at once is one write. Nothing of it is in the file before.
func TestWhatWaitsIsWrittenTogether(t *testing.T) {
	w, _, _ := newTestWriter(t)
	begin(w, 1)
	before := sizeOf(t, w.Path())
	sayTurns(w, "short", "words")
	if sizeOf(t, w.Path()) != before {
		t.Error("it didn't wait")
	}
	w.Flush()
	if strings.Count(read(t, w.Path())[before:], "\n") != 2 {
		t.Errorf("the file ends with %s", read(t, w.Path())[before:])
	}
	sayTurns(w, strings.Repeat("x", maxHeld))
	if grown := sizeOf(t, w.Path()) - before; grown < maxHeld {
		t.Errorf("only %d bytes were written of more than %d", grown, maxHeld)
	}
	closed(t, w)
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	must.OK(t, err)
	return info.Size()
}

// sayTurns has an agent say texts, each in a turn of its own.
func sayTurns(w *Writer, texts ...string) {
	for i, text := range texts {
		id := fmt.Sprint("m", i)
		w.Handle(stream.Text{Delta: text, MessageID: id})
		w.Handle(stream.MessageEnd{MessageID: id, Text: text})
		w.Handle(stream.TurnEnd{StopReason: "stop"})
	}
}

// A disk is full in the middle of a write: what goes on later follows the last
// entry that is whole.
func TestAWriteIsCutOff(t *testing.T) {
	w, _, _ := newTestWriter(t)
	begin(w, 1)
	file := w.file
	r, full, err := os.Pipe() // takes 64 KiB
	must.OK(t, err)
	defer r.Close()
	taken := make(chan []byte, 1)
	go func() {
		begun := make([]byte, maxHeld/2) // of what is too long
		io.ReadFull(r, begun)
		taken <- begun
		full.SetWriteDeadline(time.Unix(1, 0)) // now it is full
	}()
	w.file = full
	sayTurns(w, "whole", strings.Repeat("x", 4*maxHeld))
	w.Flush()
	full.Close()
	if w.Err() == nil {
		t.Fatal("it was written")
	}
	must.OK(t, must.Err(io.Copy(file, io.MultiReader(bytes.NewReader(<-taken), r))))
	w.file = file
	sayTurns(w, "later")
	must.OK(t, w.Close())
	if found := faults(t, w.Path()); len(found) != 1 { // the half of a line
		t.Errorf("%q", found)
	}
	if text := read(t, w.Path()); !strings.Contains(text, `"whole"`) || !strings.Contains(text, `"later"`) || strings.Contains(text, "x{") {
		t.Error(text)
	}
}
