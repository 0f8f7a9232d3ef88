package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// TestPagesOfEachSize reads a session in pages of each size, each by somebody
// who knows nothing of those before, and wants the same updates.
func TestPagesOfEachSize(t *testing.T) {
	const path = "../testdata/pi-sessions/pi-sess.jsonl"
	whole, err := new(Sessions).Of(path).Read(t.Context(), "", Options{Thinking: true})
	if err != nil || len(whole.Items) < 10 || whole.More {
		t.Fatal(len(whole.Items), err)
	}
	var remembers Sessions
	for limit := 1; limit <= len(whole.Items)+1; limit++ {
		var read []json.RawMessage
		for cursor, more := "", true; more; {
			page, err := remembers.Of(path).Read(t.Context(), cursor, Options{Limit: limit, Thinking: true})
			anew, errAnew := new(Sessions).Of(path).Read(t.Context(), cursor, Options{Limit: limit, Thinking: true})
			if err != nil || errAnew != nil || len(page.Items) > limit || page.Reset || page.Cursor != anew.Cursor {
				t.Fatalf("limit %d: %d updates up to %s, %v; anew up to %s, %v", limit, len(page.Items), page.Cursor, err, anew.Cursor, errAnew)
			}
			read = append(read, withoutUsage(page)...)
			cursor, more = page.Cursor, page.More
		}
		if !slices.EqualFunc(read, withoutUsage(whole), func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
			t.Errorf("limit %d: %s", limit, read)
		}
	}
}

// A session that grows is read on, and one that was replaced is read anew.
func TestASessionThatChanges(t *testing.T) {
	path := writeLoop(t, 2, 2)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := readUpTo(t, new(Sessions), path, "", "")
	grows := filepath.Join(t.TempDir(), filepath.Base(path))
	var sessions Sessions
	var read []string
	cursor := ""
	for size := 0; size < len(whole); size = min(size+1000, len(whole)) {
		write := func(data []byte) {
			f, err := os.OpenFile(grows, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err == nil {
				_, err = f.Write(data)
				err = errors.Join(err, f.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		write(whole[size:min(size+1000, len(whole))])
		for more := true; more; {
			page, err := sessions.Of(grows).Read(t.Context(), cursor, Options{Limit: 3, Thinking: true})
			if err != nil || page.Reset {
				t.Fatal(page.Reset, err)
			}
			for _, u := range withoutUsage(page) {
				read = append(read, string(u))
			}
			cursor, more = page.Cursor, page.More
		}
	}
	if !slices.Equal(read, want) {
		t.Errorf("%d updates while it grew, %d at once", len(read), len(want))
	}
	for n := range 2 * maxSessions { // others push it out
		sessions.Of(fmt.Sprint(path, n))
	}
	if len(sessions.last) != maxSessions {
		t.Errorf("%d are kept", len(sessions.last))
	}
	if page, err := sessions.Of(grows).Read(t.Context(), cursor, Options{}); err != nil || page.Reset || len(page.Items) > 0 || page.Cursor != cursor {
		t.Errorf("behind the end: %d updates, reset %v, %v", len(page.Items), page.Reset, err)
	}
	if err := os.Rename(writeLoop(t, 1), grows); err != nil {
		t.Fatal(err)
	}
	if page, err := sessions.Of(grows).Read(t.Context(), cursor, Options{}); err != nil || !page.Reset || len(page.Items) < 5 {
		t.Errorf("of another file: %d updates, reset %v, %v", len(page.Items), page.Reset, err)
	}
}

// withoutUsage are a page's updates but for what an iteration has used: of that a page
// has the last word.
func withoutUsage(p Page) []json.RawMessage {
	return slices.DeleteFunc(p.Updates(false), func(u json.RawMessage) bool { return strings.Contains(string(u), `"`+wire.KindUsage+`"`) })
}

func TestALongTextComesInPieces(t *testing.T) {
	text := strings.Repeat("é", wire.MaxText)
	path := filepath.Join(t.TempDir(), "x.jsonl")
	session := `{"type":"session","version":3,"id":"1","cwd":"/"}` + "\n" + `{"type":"message","id":"2","message":{"role":"user","content":"` + text + `"}}` + "\n"
	if err := os.WriteFile(path, []byte(session), 0o600); err != nil {
		t.Fatal(err)
	}
	var pages Sessions
	joined, cursor, pieces := "", "", 0
	for more := true; more; pieces++ {
		page, err := pages.Of(path).Read(t.Context(), cursor, Options{Limit: 1})
		if err != nil || len(page.Items) != 1 {
			t.Fatal(page, err)
		}
		var u wire.Chunk
		if err := json.Unmarshal(page.Items[0].JSON, &u); err != nil || u.SessionUpdate != wire.KindUserChunk {
			t.Fatal(string(page.Items[0].JSON), err)
		}
		joined += u.Content.Text
		cursor, more = page.Cursor, page.More
	}
	if joined != text || pieces < 2 {
		t.Errorf("%d pieces of %d bytes", pieces, len(joined))
	}
	if page, err := pages.Of(path).Read(t.Context(), cursor, Options{}); err != nil || len(page.Items) != 0 || page.Cursor != cursor || page.Reset {
		t.Errorf("behind the last page there is %v (%v)", page, err)
	}
}

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
		w.HandleRecord(begins(i + 1))
		w.Handle(stream.SessionStart{Backend: "pi", Version: "1", Provider: "anthropic", Model: "m"})
		for k := range n {
			message, call := fmt.Sprintf("m%d", k), fmt.Sprintf("t%d", k)
			text := fmt.Sprintf(`step %d says "phase":"begin"`, k)
			w.Handle(stream.Text{Delta: text, MessageID: message})
			w.Handle(stream.MessageEnd{MessageID: message, Text: text})
			w.Handle(stream.ToolCall{ID: call, Name: "bash", Input: json.RawMessage(`{"phase":"begin"}`)})
			w.Handle(stream.ToolResult{ID: call, Output: strings.Repeat("ok\n", 3000)})
			w.Handle(stream.TurnEnd{StopReason: "toolUse", Usage: stream.Usage{Cost: stream.USD(0.01)}})
		}
		w.HandleRecord(ends(i+1, "ok"))
	}
	w.HandleRecord(history.LoopEnd{StopReason: "promise", Iterations: len(calls)})
	if err := errors.Join(w.Close(), w.Err()); err != nil {
		t.Fatal(err)
	}
	return w.Path()
}

// readUpTo reads all from a cursor on and before another.
func readUpTo(t *testing.T, p *Sessions, path, after, before string) (updates []string) {
	t.Helper()
	for more := true; more; {
		page, err := p.Of(path).Read(t.Context(), after, Options{Before: before, Thinking: true})
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
	o, err := new(Sessions).Of(path).Outline(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var iterations []int
	ends := map[int]string{}
	var got []string
	var remembers Sessions
	for i, part := range slices.Backward(o.Parts) {
		before := o.Cursor
		if i+1 < len(o.Parts) {
			before = o.Parts[i+1].Cursor
		}
		anew := readUpTo(t, new(Sessions), path, part.Cursor, before)
		if known := readUpTo(t, &remembers, path, part.Cursor, before); !slices.Equal(anew, known) {
			t.Errorf("part %d: %d updates, and %d by who has read others", i, len(anew), len(known))
		}
		got = append(anew, got...)
		iterations = append(iterations, part.Iteration)
	}
	slices.Reverse(iterations)
	if each := slices.Compact(slices.Clone(iterations)); !slices.Equal(each, []int{1, 2, 3, 4}) || len(iterations) < 6 {
		t.Errorf("the parts are of the iterations %v; the long ones have several", iterations)
	}
	if whole := readUpTo(t, new(Sessions), path, "", ""); !slices.Equal(got, whole) {
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
	if page, err := new(Sessions).Of(path).Read(t.Context(), o.Cursor, Options{}); err != nil || len(page.Items) != 0 || page.Reset {
		t.Errorf("it ends at %s, but behind that there is %v (%v)", o.Cursor, page, err)
	}
}

// TestAnOutlineOfWhatGoesOn ends where the iteration begins that isn't over, and says which
// one that is: what comes is read together with what it has so far.
func TestAnOutlineOfWhatGoesOn(t *testing.T) {
	path := writeLoop(t, 2, 2)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	second := strings.LastIndex(string(whole), `"iteration_start"`)
	upTo := int64(second + strings.IndexByte(string(whole[second:]), '\n') + 1)
	if err := os.WriteFile(path, whole[:upTo], 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := new(Sessions).Of(path).Outline(t.Context())
	if err != nil || len(o.Parts) != 1 || len(o.Iterations) != 2 {
		t.Fatalf("%d parts, %d iterations, %v", len(o.Parts), len(o.Iterations), err)
	}
	if last := string(o.Iterations[1]); !strings.Contains(last, `"phase":"begin"`) {
		t.Errorf("the last iteration is %s", last)
	}
	tail := readUpTo(t, new(Sessions), path, o.Cursor, "")
	if whole := readUpTo(t, new(Sessions), path, "", ""); len(tail) == 0 || !slices.Equal(tail, whole[len(whole)-len(tail):]) || !strings.Contains(tail[0], `"phase":"begin"`) {
		t.Errorf("behind the parts there are %d updates, the first is %s", len(tail), tail[:1])
	}
	torn := filepath.Join(t.TempDir(), "torn.jsonl")
	if err := os.WriteFile(torn, whole[:len(whole)-10], 0o600); err != nil {
		t.Fatal(err)
	}
	if o, err := new(Sessions).Of(torn).Outline(t.Context()); err != nil || len(o.Parts) != 2 {
		t.Errorf("with a line that isn't whole: %d parts, %v", len(o.Parts), err)
	}
}

func TestNoOutlineOfWhatIsNoSession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl")
	if err := os.WriteFile(path, []byte("hello\n{\"a\":1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := new(Sessions).Of(path).Outline(t.Context())
	if _, ok := errors.AsType[*history.FormatError](err); !ok {
		t.Error(err)
	}
}

// BenchmarkOutline is what a view of a long session waits for the first time:
// next to the bytes alone.
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
			o, err := new(Sessions).Of(path).Outline(b.Context())
			if err != nil || len(o.Parts) < 1000 {
				b.Fatal(len(o.Parts), err)
			}
		}
	})
}

// What an agent was told keeps its author up to the page on which an editor reads it again.
func TestTheAuthorOfAnInputIsInItsSession(t *testing.T) {
	long := strings.Repeat("Mind the tests. ", wire.MaxText/8)
	inputs := []history.Input{
		{Kind: history.InputAgent, Text: "Leave the parser alone", FromAgentID: "lead", FromSessionID: "s1"},
		{Kind: history.InputUser, Text: "Be quick"},
		{Kind: history.InputCallback, Text: "hidden", FromAgentID: "lead"},
		{Kind: history.InputAgent, Text: long, FromAgentID: "lead\x1b[31m"},
	}
	w, err := history.NewWriter(history.Options{Folder: t.TempDir()}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w.HandleRecord(history.LoopStart{LoopID: "ralph-1", Backend: "pi"})
	for _, in := range inputs {
		w.HandleRecord(in)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	page, err := new(Sessions).Of(w.Path()).Read(t.Context(), "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Items) != 4 { // the long one is two
		t.Fatalf("%d updates", len(page.Items))
	}
	author := func(i int, updates []string) string {
		_, behind, _ := strings.Cut(updates[i], `"fromAgentId":`)
		who, _, _ := strings.Cut(behind, `"content"`)
		return who
	}
	var is []string
	for _, it := range page.Items {
		is = append(is, string(it.JSON))
	}
	for i, want := range []string{`"lead","fromSessionId":"s1",`, "", `"lead",`, `"lead",`} {
		if got := author(i, is); got != want {
			t.Errorf("update %d is by %q, want %q: %.200s", i, got, want, is[i])
		}
	}
}

func TestTheAuthorOfAnotherWritersInput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "session.jsonl")
	lines := `{"type":"session","version":3,"id":"01a1f8b4","timestamp":"2026-11-20T11:25:50.210Z","cwd":"/w"}
{"type":"custom_message","id":"00000010","parentId":null,"timestamp":"2026-11-20T11:25:50.305Z","customType":"assistant.input","content":"Mind the tests","display":true,"details":{"kind":"agent","fromAgentId":"lead","fromSessionId":"s1"}}
{"type":"custom","id":"00000011","parentId":"00000010","timestamp":"2026-11-20T11:25:50.305Z","customType":"assistant.event","data":{"chatEventType":"agent_callback","payload":{"messageId":"m9","fromAgentId":"reviewer","result":"Looks good"}}}
`
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	page, err := new(Sessions).Of(file).Read(t.Context(), "", Options{})
	if err != nil || len(page.Items) != 2 {
		t.Fatal(page, err)
	}
	for i, want := range []string{
		`{"sessionUpdate":"user_message_chunk","messageId":"00000010","fromAgentId":"lead","fromSessionId":"s1","content":{"type":"text","text":"Mind the tests"}}`,
		`{"sessionUpdate":"user_message_chunk","messageId":"m9","fromAgentId":"reviewer","content":{"type":"text","text":"Looks good"}}`,
	} {
		if string(page.Items[i].JSON) != want {
			t.Errorf("got  %s\nwant %s", page.Items[i].JSON, want)
		}
	}
}

// A loop's session file is shown as its journal, unless that isn't here or its user has gone on in pi.
func TestAStoryIsTheJournalOrElseTheSession(t *testing.T) {
	dir := inHome(t)
	l, path := keeping(t, "ralph-a")
	l.HandleLoop(loop.Warning{Message: "mind the gap"}) // which the session file hasn't
	end := loop.End{Reason: loop.StopPromise, Promise: "DONE"}
	l.kept.Close(&end, func() {})
	l.HandleLoop(end)
	has := func(loopID string) bool {
		page, err := StoryOf(loopID, path).Read(t.Context(), "", Options{})
		if err != nil || len(page.Items) == 0 || !strings.Contains(string(page.Items[len(page.Items)-1].JSON), `"promise":"DONE"`) {
			t.Fatal(page, err)
		}
		return strings.Contains(string(page.Items[0].JSON), "mind the gap")
	}
	if !has("ralph-a") || !has("") || has("ralph-b") {
		t.Errorf("by its id %v, by the file %v, of another id %v", has("ralph-a"), has(""), has("ralph-b"))
	}
	whole, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, append(whole, `{"type":"label","id":"1","parentId":null}`+"\n"...), 0o600)
	}
	if err != nil || has("") {
		t.Errorf("its user has gone on: %v, %v", has(""), err)
	}
	if err := errors.Join(os.WriteFile(path, whole, 0o600), os.RemoveAll(dir)); err != nil || has("") {
		t.Errorf("its journal is gone: %v, %v", has(""), err)
	}
}
