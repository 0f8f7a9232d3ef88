package feed

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"ralph-lsp/internal/test/clienttest"
	"ralph-lsp/loop"
	"ralph-lsp/looplog"
	"ralph-lsp/stream"
	"ralph-lsp/wire"
)

// An agent prints as fast as it can and the editor never reads: the memory has
// an end, and what tells tools, iterations and the end is all kept.
func TestFloodForAnEditorThatNeverReads(t *testing.T) {
	t.Run("mostly text", func(t *testing.T) { neverRead(t, 100_000, 1_000) })
	t.Run("mostly tools", func(t *testing.T) { neverRead(t, 80_000, 20_000) })
}

// What is dropped while a part of it is on its way isn't waited for.
func TestDroppedWhileItIsSent(t *testing.T) {
	sending, unstuck := make(chan struct{}, 1000), make(chan struct{})
	ed := &clienttest.Editor{Is: clienttest.Full, Sends: func(context.Context) error {
		sending <- struct{}{}
		<-unstuck
		return nil
	}}
	f := startFeed(ed)
	say(f, "first words")
	<-sending
	say(f, strings.Repeat("a", maxBacklog-minShed))
	unstuck <- struct{}{}
	<-sending // the first of many
	say(f, strings.Repeat("b", 2*minShed))
	f.mu.Lock()
	if f.backlog.dropped == 0 {
		t.Error("nothing was dropped: this tests nothing")
	}
	f.mu.Unlock()
	f.Close()
	close(unstuck)
	select {
	case <-f.done:
	case <-time.After(time.Minute):
		t.Fatal("the sender goes round and round")
	}
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
	f.mu.Lock()
	if queued := f.backlog.queued(); queued > maxBacklog+minShed {
		t.Errorf("%d KiB wait in the queue", queued>>10)
	}
	if blocks := len(f.backlog.attic.blocks); blocks > 10*iterations {
		t.Errorf("%d blocks were deflated, each by itself", blocks)
	}
	f.mu.Unlock()
	f.Close()
	close(unstuck)
	<-f.done

	var (
		updates []clienttest.Seen
		dropped int
		counts  = map[string]int{}
	)
	params, _ := clienttest.Received[wire.UpdateParams](ed, wire.MethodUpdate)
	for _, p := range params {
		dropped += p.Dropped
		for _, u := range clienttest.DecodeUpdates(t, p.Updates) {
			updates = append(updates, u)
			counts[u.SessionUpdate+u.Phase+u.Status]++
			if id := u.ToolCallID; id != "" && !strings.HasPrefix(id, fmt.Sprintf("t%d-", p.Iteration-1)) {
				t.Fatalf("%s came with iteration %d", id, p.Iteration)
			}
		}
		if p.Seq != int64(len(updates)) {
			t.Fatalf("seq is %d, want %d", p.Seq, len(updates))
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
	if dropped < tools {
		t.Errorf("%d dropped, want at least the tools' %d outputs", dropped, tools)
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

// flood lets an agent say a lot: text, and tools with their output so far.
func flood(f *Feed, events, iterations, tools int) {
	delta := strings.Repeat("words ", 10)
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

// Text goes first, then what tools took and gave, then the rest.
func TestOrderOfDropping(t *testing.T) {
	const n = maxBacklog / 1024
	kilobyte := strings.Repeat("x", 1024)
	tests := []struct {
		name string
		add  func(b *backlog, i int)
		kept string // kinds, of the updates that are left
	}{
		{"text before outputs", func(b *backlog, i int) {
			id := fmt.Sprint(i)
			if i < n/2 {
				b.add(wire.ToolCallUpdate{SessionUpdate: wire.KindToolCallUpdate, ToolCallID: id, ParentToolCallID: "", Status: wire.StatusCompleted, Content: contentOf(kilobyte)})
			} else {
				b.addText(wire.KindMessageChunk, id, "", kilobyte)
			}
		}, "all outputs"},
		{"outputs before errors", func(b *backlog, i int) {
			if i < n/2 {
				b.add(wire.ErrorUpdate{SessionUpdate: wire.KindError, Message: kilobyte})
			} else {
				b.add(wire.ToolCallUpdate{SessionUpdate: wire.KindToolCallUpdate, ToolCallID: fmt.Sprint(i), ParentToolCallID: "", Status: wire.StatusCompleted, Content: contentOf(kilobyte)})
			}
		}, "all errors"},
		{"errors at last", func(b *backlog, _ int) {
			b.add(wire.ErrorUpdate{SessionUpdate: wire.KindError, Message: kilobyte})
		}, "some errors"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b backlog
			for i := range n {
				tt.add(&b, i)
			}
			if b.size() > maxBacklog || b.dropped == 0 {
				t.Fatalf("%d bytes wait, %d dropped", b.size(), b.dropped)
			}
			outputs, errors := 0, 0
			for _, p := range b.queue {
				switch u := p.update.(type) {
				case wire.ToolCallUpdate:
					outputs += len(u.Content)
				case wire.ErrorUpdate:
					errors++
				}
			}
			got := map[bool]string{outputs == n/2: "all outputs", errors == n/2: "all errors", errors > n/2 && errors < n: "some errors"}[true]
			if got != tt.kept {
				t.Errorf("%d outputs and %d errors are left, want %s", outputs, errors, tt.kept)
			}
		})
	}
}

// However much waits, the user sees what the agent says now.
func TestNewestTextStays(t *testing.T) {
	var b backlog
	for i := range 60 {
		word := fmt.Sprint("word", i)
		b.addText(wire.KindMessageChunk, word, "", strings.Repeat("x", wire.MaxText-100)+word)
		last := b.queue[len(b.queue)-1].text
		if last == nil || !strings.HasSuffix(string(last.text), word) {
			t.Fatalf("%s isn't there", word)
		}
		for range 1000 {
			b.add(wire.Iteration{SessionUpdate: wire.KindIteration}) // never dropped
		}
	}
	if b.dropped == 0 {
		t.Error("nothing was dropped")
	}
}

func TestUsageStaysInItsIteration(t *testing.T) {
	var b backlog
	for iteration := 1; iteration <= 2; iteration++ {
		b.iteration = iteration
		b.add(wire.UsageUpdate{SessionUpdate: wire.KindUsage, Used: 1})
		b.add(wire.UsageUpdate{SessionUpdate: wire.KindUsage, Used: 2})
	}
	got := b.take(1<<20, nil)
	if len(got) != 2 || got[0].iteration != 1 || got[1].iteration != 2 {
		t.Errorf("got %+v, want one of each iteration", got)
	}
}

// However events come and are taken: the books are right, begins and ends are
// all there and in order, and no text is lost while there is room.
func FuzzBacklog(f *testing.F) {
	f.Add([]byte("tttcpprtcutzt"))
	f.Add([]byte("cpuzprLLLLLLLLzctr"))
	f.Add([]byte(strings.Repeat("LcPrL", 40)))
	f.Add([]byte("CtCiCcpLLLLLLLLLLLLLLLLLLLLLLLLztLizr"))
	f.Fuzz(func(t *testing.T, ops []byte) {
		if len(ops) > 200 || bytes.Count(ops, []byte("C")) > 3 {
			return // more of the same takes longer and shows nothing new
		}
		var (
			b                backlog
			taken            []pending
			calls, open, end int
			said             strings.Builder
		)
		for _, op := range ops {
			id := fmt.Sprint("t", calls)
			switch op {
			case 't', 'L':
				text := map[byte]string{'t': "tü", 'L': strings.Repeat("€", wire.MaxText/2)}[op]
				said.WriteString(text)
				b.addText(wire.KindMessageChunk, "m", "", text)
			case 'c':
				calls++
				open++
				b.add(wire.ToolCall{SessionUpdate: wire.KindToolCall, ToolCallID: fmt.Sprint("t", calls), RawInput: json.RawMessage(`{}`)})
			case 'C':
				for range 4000 {
					calls, end = calls+1, end+1
					id := fmt.Sprint("t", calls)
					b.add(wire.ToolCall{SessionUpdate: wire.KindToolCall, ToolCallID: id})
					b.add(wire.ToolCallUpdate{SessionUpdate: wire.KindToolCallUpdate, ToolCallID: id, ParentToolCallID: "", Status: wire.StatusCompleted, Content: nil})
				}
			case 'p', 'P':
				output := map[byte]string{'p': "out", 'P': strings.Repeat("o", wire.MaxText)}[op]
				b.add(wire.ToolCallUpdate{SessionUpdate: wire.KindToolCallUpdate, ToolCallID: id, ParentToolCallID: "", Status: wire.StatusInProgress, Content: contentOf(output)})
			case 'r':
				if open > 0 {
					open--
					end++
					b.add(wire.ToolCallUpdate{SessionUpdate: wire.KindToolCallUpdate, ToolCallID: id, ParentToolCallID: "", Status: wire.StatusCompleted, Content: contentOf("out")})
				}
			case 'u':
				b.add(wire.UsageUpdate{SessionUpdate: wire.KindUsage, Used: 1})
			case 'i':
				b.iteration++
				b.add(wire.Iteration{SessionUpdate: wire.KindIteration, Phase: wire.PhaseBegin})
			case 'z':
				taken = b.take(100, taken)
			}
			if len(b.queue) < 1000 {
				checkBooks(t, &b)
			}
		}
		checkBooks(t, &b)
		dropped := b.dropped
		for b.size() > 0 {
			taken = b.take(1<<40, taken)
		}
		if len(b.outputs) != 0 {
			t.Errorf("an empty backlog has %d outputs", len(b.outputs))
		}
		checkTaken(t, taken, calls, end)
		var got strings.Builder
		for _, p := range taken {
			if p.text != nil {
				got.Write(p.text.text)
			}
		}
		if dropped == 0 && got.String() != said.String() {
			t.Errorf("%d bytes of text came out, want %d", got.Len(), said.Len())
		}
	})
}

// checkBooks counts again what the backlog says of itself.
func checkBooks(t *testing.T, b *backlog) {
	t.Helper()
	fixed, loose := 0, 0
	for _, p := range b.queue {
		f, l := p.weight()
		fixed, loose = fixed+f, loose+l
	}
	if fixed != b.fixed || loose != b.loose {
		t.Fatalf("%d+%d bytes wait, the books say %d+%d", fixed, loose, b.fixed, b.loose)
	}
	if loose > maxBacklog+wire.MaxText {
		t.Fatalf("%d bytes wait that could be dropped", loose)
	}
	for id, at := range b.outputs {
		if u, ok := b.queue[at-b.first].update.(wire.ToolCallUpdate); !ok || u.ToolCallID != id {
			t.Fatalf("the output of %s isn't at its place", id)
		}
	}
}

// checkTaken counts the begins and ends of tools, each of which has a number
// that no earlier one has.
func checkTaken(t *testing.T, taken []pending, calls, ends int) {
	t.Helper()
	encoder, last := wire.NewEncoder(), 0
	for _, p := range taken {
		if p.sign != noSign {
			continue
		}
		u, err := encode(encoder, p)
		if err != nil {
			t.Fatal(err)
		}
		var s clienttest.Seen
		clienttest.Decode(t, u.JSON, &s)
		switch {
		case s.SessionUpdate == wire.KindToolCall:
			calls--
			number := 0
			fmt.Sscanf(s.ToolCallID, "t%d", &number)
			if number <= last {
				t.Fatalf("call %d comes after %d", number, last)
			}
			last = number
		case s.Status == wire.StatusCompleted:
			ends--
		}
	}
	if calls != 0 || ends != 0 {
		t.Errorf("%d begins and %d ends of tools are missing", calls, ends)
	}
}

// contentOf is what a tool gave as an update has it.
func contentOf(output string) []wire.ToolContent {
	return []wire.ToolContent{{Type: "content", Content: wire.TextContent{Type: "text", Text: output}}}
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

func benchmarkFeed(b *testing.B, reads bool) *Feed {
	over := make(chan struct{})
	f := New(forgetful{&clienttest.Editor{Is: clienttest.Full, Sends: func(context.Context) error {
		if !reads {
			<-over
		}
		return nil
	}}}, new(looplog.Pages), func(bool) {})
	f.Start("l1", runningStatus)
	b.Cleanup(func() {
		f.Close()
		close(over)
		<-f.done
	})
	return f
}
