package history

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"ralph-lsp/stream"
)

// TestASettledPlaceHasAllBefore mirrors recordings of real agents and reads the
// session back up to each place that the writer calls settled: that has to be
// what was live until then, with its topics, and no more.
func TestASettledPlaceHasAllBefore(t *testing.T) {
	for folder, format := range map[string]stream.Format{"pi": stream.FormatPi, "claude": stream.FormatClaude} {
		recordings, err := filepath.Glob("../testdata/" + folder + "/*.jsonl")
		if err != nil || len(recordings) == 0 {
			t.Fatal("no recordings in", folder, err)
		}
		places := 0
		for _, recording := range recordings {
			info, err := os.Stat(recording)
			if err != nil {
				t.Fatal(err)
			}
			if info.Size() < 200<<10 { // each place reads the session anew
				places += settledPlaces(t, format, recording)
			}
		}
		if places < 2*len(recordings) {
			t.Errorf("%s: only %d places in %d recordings", folder, places, len(recordings))
		}
	}
}

// settledPlaces checks a recording's places and returns how many there are.
func settledPlaces(t *testing.T, format stream.Format, recording string) (places int) {
	t.Helper()
	w, err := NewWriter(Options{Folder: t.TempDir()}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	live, last := &log{}, int64(0)
	begin(w, live, 1)
	check := stream.HandlerFunc(func(e stream.Event) {
		w.Handle(e)
		w.Flush()
		live.Handle(e)
		size, ok := w.Settled()
		if !ok || size == last {
			return
		}
		last = size
		places++
		was, is := viewOf(live), viewOf(replayUpTo(t, w.Path(), size))
		was.Cost, is.Cost = stream.Usage{}, stream.Usage{} // it is told when it is news
		if !reflect.DeepEqual(was, is) {
			t.Fatalf("%s, behind %#v: live\n%+v\nsettled\n%+v", recording, e, was, is)
		}
	})
	f, err := os.Open(recording)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := (stream.Reader{Format: format, Handler: check}).Run(f); err != nil {
		t.Fatal(err)
	}
	return places
}

// replayUpTo reads a session's first size bytes.
func replayUpTo(t *testing.T, path string, size int64) *log {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	beginning := filepath.Join(t.TempDir(), "beginning.jsonl")
	if err := os.WriteFile(beginning, data[:size], 0o600); err != nil {
		t.Fatal(err)
	}
	seen, _ := replay(t, beginning)
	return seen
}

func TestAWriterThatContinuesIsSettledWhereItBegins(t *testing.T) {
	options, cwd := Options{Folder: t.TempDir()}, t.TempDir()
	w, err := NewWriter(options, cwd)
	if err != nil {
		t.Fatal(err)
	}
	begin(w, &log{}, 1)
	w.Handle(stream.Text{Delta: "half a"})
	w.Flush()
	if _, ok := w.Settled(); ok {
		t.Error("a message that hasn't ended is settled")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if size, ok := w.Settled(); !ok || size != sizeOf(t, w.Path()) {
		t.Errorf("closed at %d, settled %v", size, ok)
	}
	again, err := ContinueWriter(options, cwd, w.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if size, ok := again.Settled(); !ok || size != sizeOf(t, w.Path()) {
		t.Errorf("continued at %d, settled %v", size, ok)
	}
	again.HandleRecord(LoopStart{Continued: true})
	if size, ok := again.Settled(); !ok || size != sizeOf(t, w.Path()) {
		t.Errorf("behind an entry at %d, settled %v", size, ok)
	}
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// TestWhatIsKeptBackIsntSettled has an entry written while something else waits
// for more.
func TestWhatIsKeptBackIsntSettled(t *testing.T) {
	call := stream.ToolCall{ID: "t1", Name: "bash"}
	for name, events := range map[string][]stream.Event{
		"text":                 {stream.Text{Delta: "x"}},
		"an ended message":     {stream.Text{Delta: "x"}, stream.MessageEnd{Text: "x"}},
		"thoughts":             {stream.Thinking{Delta: "x"}},
		"a result":             {call, stream.ToolCall{ID: "t2", Name: "bash"}, stream.ToolResult{ID: "t1"}},
		"a subagent's message": {call, stream.Text{Delta: "x", ParentToolCallID: "t1"}},
	} {
		w, err := NewWriter(Options{Folder: t.TempDir()}, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		begin(w, &log{}, 1)
		for _, e := range append(events, stream.Retry{Attempt: 1}) {
			w.Handle(e)
		}
		w.Flush()
		if _, ok := w.Settled(); ok {
			t.Errorf("%s is settled", name)
		}
		w.HandleRecord(IterationEnd{Iteration: 1, Outcome: "cancelled"})
		if size, ok := w.Settled(); !ok || size != sizeOf(t, w.Path()) {
			t.Errorf("%s is open when the iteration has ended: %d %v", name, size, ok)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
