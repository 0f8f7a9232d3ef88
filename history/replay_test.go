package history

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// log is a Handler that keeps what it sees.
type log struct {
	events  []stream.Event
	records []Record
	all     []any
}

func (l *log) Handle(e stream.Event) { l.events, l.all = append(l.events, e), append(l.all, e) }

func (l *log) HandleRecord(r Record) { l.records, l.all = append(l.records, r), append(l.all, r) }

// String lists all that was seen, one line each.
func (l *log) String() string {
	var b strings.Builder
	for _, e := range l.all {
		data, err := json.Marshal(e)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&b, "%s %s\n", reflect.TypeOf(e).Name(), data)
	}
	return b.String()
}

// replay reads a session from its beginning.
func replay(t testing.TB, path string) (*log, int) {
	t.Helper()
	r, err := NewReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var seen log
	for r.Next(&seen) {
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return &seen, r.Skipped()
}

// mirror writes a recorded stream as a loop of one iteration and returns its
// session and what was seen live.
func mirror(t testing.TB, format decode.Format, recording string) (path string, live *log) {
	t.Helper()
	w, err := NewWriter(Options{Folder: t.TempDir()}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	live = &log{}
	begin(w, live, 1)
	both(w, live, Input{Kind: InputAgent, Text: "Mind the tests", FromAgentID: "lead", FromSessionID: "s1"})
	outcome := "ok"
	f, err := os.Open(recording)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	handler := stream.HandlerFunc(func(e stream.Event) { w.Handle(e); live.Handle(e) })
	result, err := decode.Reader{Format: format, Handler: handler}.Run(f)
	if err != nil {
		t.Fatal(err)
	}
	if !result.Terminal {
		outcome = "cancelled"
	}
	both(w, live, ends(1, outcome, result.Usage.Cost))
	both(w, live, LoopEnd{StopReason: "promise", Iterations: 1})
	if err := w.Close(); err != nil || w.Err() != nil {
		t.Fatal(err, w.Err())
	}
	return w.Path(), live
}

func begin(w *Writer, live *log, iteration int) {
	both(w, live, LoopStart{LoopID: "ralph-1", Backend: "pi", Title: "Build it\nnow"})
	both(w, live, begins(iteration))
	both(w, live, Input{Kind: InputCallback, Text: "Build it\nnow"})
}

// begins is what a loop tells when an iteration begins.
func begins(n int) IterationStart { return IterationStart{Iteration: n} }

// ends is what it tells at its end.
func ends(n int, outcome string, cost stream.Cost) IterationEnd {
	return IterationEnd{Iteration: n, Outcome: outcome, Cost: cost}
}

func both(w *Writer, live *log, r Record) {
	w.HandleRecord(r)
	live.HandleRecord(r)
}

// view is what a client ends up with.
type view struct {
	Messages map[string]string // text by message and speaker
	Calls    []string
	Results  map[string]string
	Cost     stream.Usage
	Inputs   []string // with who said them
}

func viewOf(l *log) view {
	v := view{Messages: map[string]string{}, Results: map[string]string{}}
	for _, r := range l.records {
		if in, ok := r.(Input); ok {
			v.Inputs = append(v.Inputs, fmt.Sprintf("%s %q from %s in %s", in.Kind, in.Text, in.FromAgentID, in.FromSessionID))
		}
	}
	for _, e := range l.events {
		switch e := e.(type) {
		case stream.Text:
			v.Messages[e.ParentToolCallID+"/"+e.MessageID] += e.Delta
		case stream.Thinking:
			v.Messages[e.ParentToolCallID+"/"+e.MessageID+"/thinking"] += e.Delta
		case stream.MessageEnd:
			if e.Discarded {
				delete(v.Messages, e.ParentToolCallID+"/"+e.MessageID)
				delete(v.Messages, e.ParentToolCallID+"/"+e.MessageID+"/thinking")
			}
		case stream.ToolCall:
			v.Calls = append(v.Calls, fmt.Sprintf("%s %s %s %s", e.ID, e.Name, e.Input, e.ParentToolCallID))
		case stream.ToolResult:
			v.Results[e.ID] = fmt.Sprint(e.Output, e.IsError, e.ParentToolCallID)
		case stream.Usage:
			v.Cost = e
		}
	}
	return v
}

// TestReloadShowsWhatWasLive mirrors every recording of a real agent and wants
// the reload to come to the same as the live view.
func TestReloadShowsWhatWasLive(t *testing.T) {
	for folder, format := range map[string]decode.Format{
		"pi": decode.FormatPi, "pi-old": decode.FormatPi, "pi-rpc": decode.FormatPi, "claude": decode.FormatClaude,
	} {
		recordings, err := filepath.Glob("../testdata/" + folder + "/*.jsonl")
		if err != nil || len(recordings) == 0 {
			t.Fatal("no recordings in", folder, err)
		}
		for _, recording := range recordings {
			t.Run(folder+"/"+filepath.Base(recording), func(t *testing.T) {
				path, live := mirror(t, format, recording)
				reload, skipped := replay(t, path)
				if skipped > 0 {
					t.Errorf("%d lines skipped", skipped)
				}
				was, is := viewOf(live), viewOf(reload)
				for id, result := range is.Results { // of tools that were stopped; live there was none
					if _, ok := was.Results[id]; !ok && strings.HasPrefix(result, InterruptedText) {
						delete(is.Results, id)
					}
				}
				if !reflect.DeepEqual(was, is) {
					t.Errorf("live\n%+v\nreload\n%+v", was, is)
				}
			})
		}
	}
}
