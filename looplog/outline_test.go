package looplog

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ralph-lsp/history"
	"ralph-lsp/stream"
	"ralph-lsp/wire"
)

// writeLoop writes a session with so many tool calls of 10 kB in each iteration.
func writeLoop(t testing.TB, calls ...int) string {
	t.Helper()
	dir := t.TempDir()
	w, err := history.NewWriter(history.Options{Folder: dir}, dir)
	if err != nil {
		t.Fatal(err)
	}
	w.HandleRecord(history.LoopStart{LoopID: "ralph-x", Backend: "pi", Title: "Work"})
	for i, n := range calls {
		w.HandleRecord(history.IterationStart{Iteration: i + 1, MaxIterations: 50})
		w.Handle(stream.SessionStart{Backend: "pi", Version: "1", Provider: "anthropic", Model: "m"})
		for k := range n {
			message, call := fmt.Sprintf("m%d", k), fmt.Sprintf("t%d", k)
			text := fmt.Sprintf(`step %d says "chatEventType":"iteration_start"`, k)
			w.Handle(stream.Text{Delta: text, MessageID: message})
			w.Handle(stream.MessageEnd{MessageID: message, Text: text})
			w.Handle(stream.ToolCall{ID: call, Name: "bash", Input: json.RawMessage(`{"chatEventType":"iteration_start"}`)})
			w.Handle(stream.ToolResult{ID: call, Output: strings.Repeat("ok\n", 3000)})
			w.Handle(stream.TurnEnd{StopReason: "toolUse", Usage: stream.Usage{Cost: stream.USD(0.01)}})
		}
		w.HandleRecord(history.IterationEnd{Iteration: i + 1, Outcome: "ok", Turns: n})
	}
	w.HandleRecord(history.LoopEnd{StopReason: "promise", Iterations: len(calls)})
	if err := errors.Join(w.Close(), w.Err()); err != nil {
		t.Fatal(err)
	}
	return w.Path()
}

// readUpTo reads all from a cursor on and before another.
func readUpTo(t *testing.T, p *Pages, path, after, before string) (updates []string) {
	t.Helper()
	for more := true; more; {
		page, err := p.Read(t.Context(), path, after, Options{Before: before, Thinking: true})
		if err != nil || page.Reset {
			t.Fatal(page.Reset, err)
		}
		for _, u := range page.Updates(false) {
			if !strings.Contains(string(u), `"`+wire.KindUsage+`"`) {
				updates = append(updates, string(u))
			}
		}
		after, more = page.Cursor, page.More
	}
	return updates
}

// TestPartsAreTheLog reads a log's parts by readers who know nothing of those
// before, from the last one to the first, and wants what one has who reads all.
func TestPartsAreTheLog(t *testing.T) {
	path := writeLoop(t, 3, 150, 1, 60)
	o, err := new(Pages).Outline(t.Context(), path, -1)
	if err != nil {
		t.Fatal(err)
	}
	var iterations []int
	ends := map[int]string{}
	var got []string
	var remembers Pages
	for i, part := range slices.Backward(o.Parts) {
		before := o.Cursor
		if i+1 < len(o.Parts) {
			before = o.Parts[i+1].Cursor
		}
		anew := readUpTo(t, new(Pages), path, part.Cursor, before)
		if known := readUpTo(t, &remembers, path, part.Cursor, before); !slices.Equal(anew, known) {
			t.Errorf("part %d: %d updates, and %d by who has read others", i, len(anew), len(known))
		}
		got = append(anew, got...)
		iterations = append(iterations, part.Iteration)
	}
	slices.Reverse(iterations)
	if each := slices.Compact(slices.Clone(iterations)); !slices.Equal(each, []int{0, 1, 2, 3, 4}) || len(iterations) < 7 {
		t.Errorf("the parts are of the iterations %v; the long ones have several", iterations)
	}
	if whole := readUpTo(t, new(Pages), path, "", ""); !slices.Equal(got, whole) {
		for i := range min(len(got), len(whole)) {
			if got[i] != whole[i] {
				t.Errorf("update %d is %.200s, want %.200s", i, got[i], whole[i])
				break
			}
		}
		t.Errorf("the parts have %d updates, the log has %d", len(got), len(whole))
	}
	for _, raw := range o.Iterations {
		var u wire.Iteration
		if err := json.Unmarshal(raw, &u); err != nil {
			t.Fatal(err)
		}
		ends[u.Iteration] = u.Phase + " " + u.Text
	}
	if len(ends) != 4 || !strings.HasPrefix(ends[2], "end ok") {
		t.Errorf("the iterations are %v", ends)
	}
	if end, _ := new(Pages).End(t.Context(), path); end != o.Cursor {
		t.Errorf("it ends at %s, want %s", o.Cursor, end)
	}
}

// TestAnOutlineUpTo ends where the iteration begins that isn't over, and says which
// one that is: what comes is read together with what it has so far.
func TestAnOutlineUpTo(t *testing.T) {
	path := writeLoop(t, 2, 2)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	second := strings.LastIndex(string(whole), `"iteration_start","payload"`)
	upTo := int64(second + strings.IndexByte(string(whole[second:]), '\n') + 1)
	o, err := new(Pages).Outline(t.Context(), path, upTo)
	if err != nil || len(o.Parts) != 2 || len(o.Iterations) != 2 {
		t.Fatalf("%d parts, %d iterations, %v", len(o.Parts), len(o.Iterations), err)
	}
	if last := string(o.Iterations[1]); !strings.Contains(last, `"phase":"begin"`) {
		t.Errorf("the last iteration is %s", last)
	}
	tail := readUpTo(t, new(Pages), path, o.Cursor, "")
	if whole := readUpTo(t, new(Pages), path, "", ""); len(tail) == 0 || !slices.Equal(tail, whole[len(whole)-len(tail):]) || !strings.Contains(tail[0], `"phase":"begin"`) {
		t.Errorf("behind the parts there are %d updates, the first is %s", len(tail), tail[:1])
	}
	torn := filepath.Join(t.TempDir(), "torn.jsonl")
	if err := os.WriteFile(torn, whole[:len(whole)-10], 0o600); err != nil {
		t.Fatal(err)
	}
	if o, err := new(Pages).Outline(t.Context(), torn, -1); err != nil || len(o.Parts) != 3 {
		t.Errorf("with a line that isn't whole: %d parts, %v", len(o.Parts), err)
	}
}

func TestNoOutlineOfWhatIsNoSession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl")
	if err := os.WriteFile(path, []byte("hello\n{\"a\":1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := new(Pages).Outline(t.Context(), path, -1)
	if _, ok := errors.AsType[*history.FormatError](err); !ok {
		t.Error(err)
	}
}

// BenchmarkOutline is what a view of a long session waits for before it reads
// the end: next to the bytes alone.
func BenchmarkOutline(b *testing.B) {
	calls := make([]int, 1000)
	for i := range calls {
		calls[i] = 9
	}
	path := writeLoop(b, calls...)
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("bytes", func(b *testing.B) {
		b.SetBytes(info.Size())
		for b.Loop() {
			if _, err := os.ReadFile(path); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("outline", func(b *testing.B) {
		b.SetBytes(info.Size())
		for b.Loop() {
			o, err := new(Pages).Outline(b.Context(), path, -1)
			if err != nil || len(o.Parts) < 1000 {
				b.Fatal(len(o.Parts), err)
			}
		}
	})
}
