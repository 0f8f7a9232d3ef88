package client

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
)

func readAll(t *testing.T, d *Client, after string, o journal.Options) (updates []json.RawMessage, last journal.Page) {
	t.Helper()
	for more := true; more; more = last.More {
		page, err := d.Story("f1").Read(t.Context(), after, o)
		if err != nil {
			t.Fatal(err)
		}
		page.Reset = page.Reset || last.Reset
		last = page
		updates, after = append(updates, last.Updates(false)...), last.Cursor
	}
	return updates, last
}

// saidBy is what attempts with so many lines say.
func saidBy(attempts ...[2]int) (all []string) {
	for _, a := range attempts {
		for i := range a[1] {
			all = append(all, fmt.Sprintf("%d.%d", a[0], i+1))
		}
	}
	return all
}

// reader is an editor that joins what it reads with what it is told, as docs/PROTOCOL.md says.
type reader struct {
	t      *testing.T
	d      *Client
	s      *screen
	has    []string
	cursor string
	taken  int // of what the screen was told
	reads  int
}

// take takes what was told until the reader has as much as it wants.
func (r *reader) until(want []string) {
	r.t.Helper()
	r.s.until(r.t, fmt.Sprintf("%v", want), func() bool {
		for _, m := range r.s.heard()[r.taken:] {
			r.taken++
			if m.after == r.cursor {
				r.has = append(r.has, messages(m.page.Updates(false))...)
				r.cursor = m.page.Cursor
				continue
			}
			r.read()
		}
		return slices.Equal(r.has, want)
	})
}

func (r *reader) read() {
	r.reads++
	updates, last := readAll(r.t, r.d, r.cursor, journal.Options{Limit: 2})
	if last.Reset {
		r.has = nil
	}
	r.has, r.cursor = append(r.has, messages(updates)...), last.Cursor
}

// A transcript that an editor has open goes on without gap or double, whatever happens to
// the attempt that it shows.
func TestATranscriptGoesOn(t *testing.T) {
	b := newBus(loopOf("f1", fleet.Queued))
	d, s := connected(t, b)
	b.begin(t, "f1")
	b.tell("f1", 1, 1, 3)
	r := &reader{t: t, d: d, s: s}
	s.until(t, "attempt 1", func() bool { now, _ := d.now("f1"); return now.Attempt == 1 })
	r.read()
	r.until(saidBy([2]int{1, 3}))

	b.tell("f1", 1, 4, 5) // it says more, and its last line only with the file
	r.until(saidBy([2]int{1, 5}))
	b.commit(t, "f1", 1, 6, fleet.Outcome{HasState: true, Iterations: 1})
	r.until(saidBy([2]int{1, 6}))

	b.begin(t, "f1") // its worker dies
	b.tell("f1", 2, 1, 4)
	r.until(saidBy([2]int{1, 6}, [2]int{2, 4}))
	b.begin(t, "f1") // another one takes over
	b.tell("f1", 3, 1, 2)
	r.until(saidBy([2]int{1, 6}, [2]int{3, 2}))
	b.tell("f1", 2, 5, 6) // the dead one wasn't quite dead
	b.tell("f1", 3, 3, 3)
	r.until(saidBy([2]int{1, 6}, [2]int{3, 3}))

	b.tell("f1", 3, 5, 6) // one line is lost on its way
	r.until(append(saidBy([2]int{1, 6}, [2]int{3, 3}), "3.5", "3.6"))
	b.commit(t, "f1", 3, 8, fleet.Outcome{StopReason: "promise", Iterations: 2})
	r.until(append(saidBy([2]int{1, 6}, [2]int{3, 3}), "3.5", "3.6", "3.7", "3.8"))
	updates, last := readAll(t, d, "", journal.Options{})
	if got := messages(updates); !slices.Equal(got, saidBy([2]int{1, 6}, [2]int{3, 8})) || !last.Complete {
		t.Errorf("read from its beginning it is %v, complete %v", got, last.Complete)
	}
	if r.reads > 12 {
		t.Errorf("it was read %d times", r.reads)
	}
}

func TestACursorOfAnotherLogBeginsAnew(t *testing.T) {
	b := newBus(loopOf("f1", fleet.Queued), loopOf("f2", fleet.Queued))
	d, s := connected(t, b)
	b.begin(t, "f1")
	s.until(t, "attempt 1", func() bool { now, _ := d.now("f1"); return now.Attempt == 1 })
	b.commit(t, "f1", 1, 3, fleet.Outcome{HasState: true})
	s.until(t, "its commit", func() bool { now, _ := d.now("f1"); return now.Committed == 1 })
	for _, cursor := range []string{"eyJsb2ciOiIx", "f2.1.1", "f1.7.0", "f1.-1.2", "f1.1", "f1.x.y"} {
		updates, last := readAll(t, d, cursor, journal.Options{})
		if !last.Reset || len(updates) != 3 {
			t.Errorf("%s: reset %v, %d updates", cursor, last.Reset, len(updates))
		}
	}
	if updates, last := readAll(t, d, "f1.1.99", journal.Options{}); last.Reset || len(updates) > 0 {
		t.Errorf("behind its end it has %d updates, reset %v", len(updates), last.Reset)
	}
}

func TestAnOutlineIsReadInParts(t *testing.T) {
	b := newBus(loopOf("f1", fleet.Queued))
	d, s := connected(t, b)
	long := strings.Repeat("x", 4096)
	for attempt := 1; attempt <= 2; attempt++ {
		b.begin(t, "f1")
		lines := fmt.Sprintf(`{"sessionUpdate":"_ralph/iteration","phase":"begin","iteration":%d,"loopId":"ralph-1","time":"2026-01-02T12:00:00Z"}`+"\n", attempt)
		for i := range 300 {
			lines += fmt.Sprintf(`{"sessionUpdate":"_ralph/warning","message":"%d.%d","text":"%s","loopId":"ralph-1","iteration":%d}`+"\n", attempt, i+1, long, attempt)
		}
		b.mu.Lock()
		b.files[loopOf("f1", "").TranscriptFile(attempt)] = lines
		b.mu.Unlock()
		b.set(t, "f1", func(r *fleet.Record) { r.Kept, r.Committed, r.Phase = append(r.Kept, attempt), attempt, fleet.Queued })
	}
	s.until(t, "both", func() bool { now, _ := d.now("f1"); return now.Committed == 2 })
	o, err := d.Story("f1").Outline(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Parts) != 6 || len(o.Iterations) != 2 || o.Parts[0].Iteration != 1 || o.Parts[5].Iteration != 2 {
		t.Fatalf("%d parts, %d iterations", len(o.Parts), len(o.Iterations))
	}
	var got []string
	for i, part := range o.Parts {
		before := o.Cursor
		if i+1 < len(o.Parts) {
			before = o.Parts[i+1].Cursor
		}
		updates, last := readAll(t, d, part.Cursor, journal.Options{Before: before})
		if last.Cursor != before {
			t.Errorf("part %d ends at %s, not at %s", i, last.Cursor, before)
		}
		got = append(got, messages(updates)...)
	}
	got = slices.DeleteFunc(got, func(text string) bool { return text == "" })
	if !slices.Equal(got, saidBy([2]int{1, 300}, [2]int{2, 300})) {
		t.Errorf("the parts have %d messages", len(got))
	}
}

func TestWhatAnUpdateBecomes(t *testing.T) {
	const stamp = `,"loopId":"ralph-1","iteration":2,"time":"2026-01-02T12:00:00Z"}`
	big := strings.Repeat("y", 400_000)
	for name, tt := range map[string]struct{ in, want string }{
		"its stamp goes": {`{"sessionUpdate":"_ralph/note","text":"a"` + stamp, `{"sessionUpdate":"_ralph/note","text":"a"}`},
		"without one":    {`{"sessionUpdate":"_ralph/note","text":"a"}`, `{"sessionUpdate":"_ralph/note","text":"a"}`},
		"a text like one": {`{"sessionUpdate":"_ralph/note","text":",\"loopId\":\"x\"}"}`,
			`{"sessionUpdate":"_ralph/note","text":",\"loopId\":\"x\"}"}`},
		"an offer that works": {`{"sessionUpdate":"_ralph/promise","offers":[{"title":"A","command":"ralph.loop.update","arguments":[{"loopId":"ralph-1","completionPromise":"X"}]}]` + stamp,
			`{"offers":[{"arguments":[{"completionPromise":"X","folder":"file:///s/f1","loopId":"f1"}],"command":"ralph.loop.update","title":"A"}],"sessionUpdate":"_ralph/promise"}`},
		"one that doesn't":              {`{"sessionUpdate":"_ralph/end","offers":[{"title":"A","command":"ralph.loop.open","arguments":[{"loopId":"ralph-1"}]}]` + stamp, `{"sessionUpdate":"_ralph/end"}`},
		"one that is spelled otherwise": {`{"sessionUpdate":"_ralph/note","off\u0065rs":[{"title":"A","command":"ralph.loop.start","arguments":[{"prompt":"x"}]}]}`, `{"sessionUpdate":"_ralph/note"}`},
		"one that stands apart":         {`{"sessionUpdate":"_ralph/note","offers" : [{"title":"A","command":"ralph.loop.start","arguments":[{"prompt":"x"}]}]}`, `{"sessionUpdate":"_ralph/note"}`},
		"too long":                      {`{"sessionUpdate":"tool_call","title":"a","rawInput":{"content":"` + big + `"}` + stamp, `{"rawInput":{"content":"` + big[:8<<10] + `… (382 KiB more in the transcript)"},"sessionUpdate":"tool_call","title":"a","truncated":true}`},
		"a file of its checkout":        {`{"sessionUpdate":"tool_call","locations":[{"path":"/w/loops/f1/tree/a/b.txt","line":3}]` + stamp, `{"locations":[{"line":3,"path":"/me/app/a/b.txt"}],"sessionUpdate":"tool_call"}`},
		"one by its name there":         {`{"sessionUpdate":"tool_call","locations":[{"path":"a.txt"}]}`, `{"locations":[{"path":"/me/app/a.txt"}],"sessionUpdate":"tool_call"}`},
		"files of its worker":           {`{"sessionUpdate":"tool_call","locations":[{"path":"/etc/passwd"},{"path":"/w/loops/f2/tree/a"},{"path":"/w/loops/f1/tree/../x"}]}`, `{"sessionUpdate":"tool_call"}`},
	} {
		if got := string(moved([]byte(tt.in), "f1", "/s/f1", "/me/app")); got != tt.want {
			t.Errorf("%s: got %.300s", name, got)
		}
	}
}

// A loop of a repository that no folder is of has no files here.
func TestALoopWithoutAnOriginNamesNoFiles(t *testing.T) {
	got := string(moved([]byte(`{"sessionUpdate":"tool_call","locations":[{"path":"/w/loops/f1/tree/a.txt"}]}`), "f1", "/s/f1", ""))
	if got != `{"sessionUpdate":"tool_call"}` {
		t.Errorf("got %s", got)
	}
}

// What a loop said live is a file that is open, so it isn't kept beyond the loop.
func TestTheTranscriptOfALoopThatIsOverIsLetGo(t *testing.T) {
	b := newBus(loopOf("f1", fleet.Queued), loopOf("f2", fleet.Queued))
	d, s := connected(t, b)
	has := func(id string) bool {
		d.logs.mu.Lock()
		defer d.logs.mu.Unlock()
		return d.logs.opened[id] != nil
	}
	for _, id := range []string{"f1", "f2"} {
		b.begin(t, id)
		b.tell(id, 1, 1, 3)
		s.until(t, "what it says", func() bool { return has(id) })
	}
	b.commit(t, "f1", 1, 3, fleet.Outcome{Iterations: 1, StopReason: "promise"})
	b.watchers[0] <- fleet.Record{Task: fleet.Task{ID: "f2"}, Phase: fleet.Removed}
	s.until(t, "that they are let go", func() bool { return !has("f1") && !has("f2") })
	if updates, _ := readAll(t, d, "", journal.Options{}); !slices.Equal(messages(updates), saidBy([2]int{1, 3})) {
		t.Errorf("it is read as %s", updates)
	}
}

// The text of a message comes in one piece, and the ends of the processes that ran its
// iterations aren't the loop's.
func TestWhatAPageHas(t *testing.T) {
	b := newBus(loopOf("f1", fleet.Queued))
	d, s := connected(t, b)
	b.begin(t, "f1")
	chunk := func(message, text string) string {
		return fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","messageId":"%s","content":{"type":"text","text":"%s"},"loopId":"ralph-1","iteration":1}`+"\n", message, text)
	}
	b.mu.Lock()
	b.files[loopOf("f1", "").TranscriptFile(1)] = chunk("m1", "a") + chunk("m1", "b") + chunk("m2", "c") +
		`{"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"out"}}],"loopId":"ralph-1","iteration":1}` + "\n" +
		`no JSON` + "\n" + `{"sessionUpdate":"_ralph/state","state":"interrupted","iteration":1}` + "\n" + `{"sessionUpdate":"_ralph/end","stopReason":"once","notify":true,"iteration":1}` + "\n"
	b.mu.Unlock()
	b.set(t, "f1", func(r *fleet.Record) { r.Kept, r.Committed, r.Phase = []int{1}, 1, fleet.Ended })
	s.until(t, "its end", func() bool { now, _ := d.now("f1"); return now.Phase == fleet.Ended })
	updates, last := readAll(t, d, "", journal.Options{})
	want := []string{`{"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":"ab"}}`, `{"sessionUpdate":"agent_message_chunk","messageId":"m2","content":{"type":"text","text":"c"}}`}
	if len(updates) != 3 || string(updates[0]) != want[0] || string(updates[1]) != want[1] || !last.Complete {
		t.Errorf("got %s", updates)
	}
	if got, err := d.Story("f1").Output(t.Context(), 1, "t1"); err != nil || got != "out" {
		t.Errorf("the output is %v, %v", got, err)
	}
	if _, err := d.Story("f1").Output(t.Context(), 2, "t1"); err == nil {
		t.Error("a call of another iteration has an output")
	}
}
