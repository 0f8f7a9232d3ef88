//go:build !race

package feed

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/clienttest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// An agent prints as fast as it can and the editor never reads: the memory has
// an end, and all is there when it reads.
func TestFloodForAnEditorThatNeverReads(t *testing.T) {
	t.Run("mostly text", func(t *testing.T) { neverRead(t, 100_000, 1_000) })
	t.Run("mostly tools", func(t *testing.T) { neverRead(t, 80_000, 20_000) })
}

func neverRead(t *testing.T, events, tools int) {
	const iterations = 10
	unstuck := make(chan struct{})
	ed := &clienttest.Editor{Is: clienttest.Full, Sends: func(context.Context) error { <-unstuck; return nil }}
	f := startFeed(ed)
	before := heap()
	flood(f, events, iterations, tools)
	say(f, "the last words")
	f.HandleLoop(loop.End{Reason: loop.StopPromise})
	if used := int64(heap()) - int64(before); used > 16<<20 {
		t.Errorf("%d MiB are in use, want at most 16", used>>20)
	}
	f.Close()
	close(unstuck)
	<-f.done

	var (
		updates []clienttest.Seen
		text    int
		counts  = map[string]int{}
	)
	params, _ := clienttest.Received[wire.UpdateParams](ed, wire.MethodUpdate)
	for _, p := range params {
		if p.Dropped > 0 {
			t.Errorf("%d were dropped", p.Dropped)
		}
		for _, u := range clienttest.DecodeUpdates(t, p.Updates) {
			updates = append(updates, u)
			counts[u.SessionUpdate+u.Phase+u.Status]++
			if u.SessionUpdate == wire.KindMessageChunk {
				text += len(u.Text(t))
			}
			if id := u.ToolCallID; id != "" && !strings.HasPrefix(id, fmt.Sprintf("t%d-", p.Iteration-1)) {
				t.Fatalf("%s came with iteration %d", id, p.Iteration)
			}
		}
	}
	for kind, want := range map[string]int{
		wire.KindIteration + wire.PhaseBegin: iterations, wire.KindIteration + wire.PhaseEnd: iterations,
		wire.KindToolCall + wire.StatusInProgress: tools, wire.KindToolCallUpdate + wire.StatusCompleted: tools, wire.KindEnd: 1,
	} {
		if counts[kind] != want {
			t.Errorf("%d of %s arrived, want %d", counts[kind], kind, want)
		}
	}
	if got := updates[len(updates)-2].Text(t); !strings.HasSuffix(got, "the last words") {
		t.Errorf("the last text is %.60q", got)
	}
	if want := (events-4*tools)*len(words) + len("the last words"); text != want {
		t.Errorf("%d bytes of text arrived, want %d", text, want)
	}
	checkOrder(t, updates)
}

// heap is the memory in use, in bytes.
func heap() uint64 {
	var mem runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&mem)
	return mem.HeapAlloc
}

// checkOrder fails when a tool ends before it began.
func checkOrder(t *testing.T, updates []clienttest.Seen) {
	t.Helper()
	begun := map[string]bool{}
	for _, u := range updates {
		switch u.SessionUpdate {
		case wire.KindToolCall:
			begun[u.ToolCallID] = true
		case wire.KindToolCallUpdate:
			if !begun[u.ToolCallID] {
				t.Fatalf("%s ends before it begins", u.ToolCallID)
			}
		}
	}
}

var words = strings.Repeat("words ", 10)

// flood lets an agent say a lot: text, and tools with their output so far.
func flood(f *fed, events, iterations, tools int) {
	delta := words
	perIteration, perTool := events/iterations, events/tools
	for i := range iterations {
		f.HandleLoop(loop.IterationStart{Iteration: i + 1})
		for n := range perIteration {
			id := fmt.Sprintf("t%d-%d", i, n/perTool)
			switch n % perTool {
			case 0:
				f.Handle(stream.ToolCall{ID: id, Name: "bash", Input: json.RawMessage(`{"command":"go test ./..."}`)})
			case 1, 2:
				f.Handle(stream.ToolProgress{ID: id, Output: delta})
			case 3:
				f.Handle(stream.ToolResult{ID: id, Output: delta + delta})
			default:
				f.Handle(stream.Text{Delta: delta, MessageID: id})
			}
		}
		f.HandleLoop(loop.IterationEnd{Iteration: i + 1, Outcome: loop.OutcomeOK})
	}
}

// BenchmarkFeed is what an event costs the agent's reader.
func BenchmarkFeed(b *testing.B) {
	for name, reads := range map[string]bool{"reads": true, "never reads": false} {
		b.Run(name+"/text", func(b *testing.B) {
			f := benchmarkFeed(b, reads)
			delta := stream.Event(stream.Text{Delta: "a few words of text ", MessageID: "m1"})
			b.ReportAllocs()
			for b.Loop() {
				f.Handle(delta)
			}
		})
		b.Run(name+"/output", func(b *testing.B) { // so far, of a running tool: a megabyte
			f := benchmarkFeed(b, reads)
			output := stream.Event(stream.ToolProgress{ID: "t1", Output: strings.Repeat("a line of an output that grows and grows\n", 25_000)})
			b.ReportAllocs()
			for b.Loop() {
				f.Handle(output)
			}
		})
		b.Run(name+"/mixed", func(b *testing.B) { // 1 in 50 begins a tool
			const events = 100_000
			f := benchmarkFeed(b, reads)
			b.ReportAllocs()
			for b.Loop() {
				flood(f, events, 1, events/50)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/events, "ns/event")
		})
	}
}

// forgetful is an editor that keeps nothing.
type forgetful struct {
	*clienttest.Editor
}

func (e forgetful) Send(ctx context.Context, _ string, _ any) error { return e.Sends(ctx) }

func benchmarkFeed(b *testing.B, reads bool) *fed {
	over := make(chan struct{})
	f := newFeed(forgetful{&clienttest.Editor{Is: clienttest.Full, Sends: func(context.Context) error {
		if !reads {
			<-over
		}
		return nil
	}}}, func(bool) {})
	f.begin(runningStatus)
	b.Cleanup(func() {
		f.Close()
		close(over)
		<-f.done
	})
	return f
}
