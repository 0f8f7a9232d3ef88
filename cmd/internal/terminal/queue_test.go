package terminal

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// slowStyle is a terminal that takes nothing until it is let go.
type slowStyle struct {
	letGo   chan struct{}
	waiting chan struct{}
	seen    []string
	text    int
	pieces  []string
	closed  bool
}

func (s *slowStyle) Live(func() loop.Status) {
	close(s.waiting)
	<-s.letGo
}

func (s *slowStyle) Handle(e stream.Event) {
	switch e := e.(type) {
	case stream.Text:
		s.text += len(e.Delta)
		s.pieces = append(s.pieces, e.MessageID+" "+e.Delta)
	case stream.ToolCall:
		s.seen = append(s.seen, "call "+e.ID)
	case stream.ToolResult:
		s.seen = append(s.seen, fmt.Sprintf("result %s %d", e.ID, len(e.Output)))
	}
}

func (s *slowStyle) HandleLoop(e loop.Event) {
	switch e := e.(type) {
	case loop.End:
		s.seen = append(s.seen, "end")
	case loop.Warning:
		s.seen = append(s.seen, e.Message)
	}
}

func (s *slowStyle) Note(text string) { s.seen = append(s.seen, text) }
func (s *slowStyle) Close()           { s.closed = true }

func newSlowQueue() (*Queue, *slowStyle) {
	slow := &slowStyle{letGo: make(chan struct{}), waiting: make(chan struct{})}
	q := NewQueue(func(func() time.Time) Style { return slow })
	q.Start(func() loop.Status { return loop.Status{} })
	<-slow.waiting
	return q, slow
}

func TestSlowTerminalLosesTextOnly(t *testing.T) {
	q, slow := newSlowQueue()
	const pieces = 200_000
	for range pieces { // 10 MB: more than may wait
		q.Handle(stream.Text{Delta: strings.Repeat("x", 50), MessageID: "m1"})
	}
	q.Handle(stream.ToolCall{ID: "t1"})
	q.Handle(stream.ToolResult{ID: "t1", Output: "long output"})
	q.Note("a note")
	q.HandleLoop(loop.End{})
	if q.size > maxQueued+64<<10 {
		t.Errorf("%d bytes wait, more than %d", q.size, maxQueued)
	}
	close(slow.letGo)
	q.Close(nil)
	if slow.text == 0 || slow.text >= pieces*50 {
		t.Errorf("%d bytes of text were shown", slow.text)
	}
	got := strings.Join(slow.seen, "; ")
	want := "call t1; result t1 0; a note; the terminal is slow: "
	if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, " weren't shown; end") || !slow.closed {
		t.Errorf("got %q (closed %v), want %q...", got, slow.closed, want)
	}
}

func TestTextOfAMessageIsJoined(t *testing.T) {
	q, slow := newSlowQueue()
	long := strings.Repeat("x", maxJoined)
	for _, e := range []stream.Text{
		{Delta: "a", MessageID: "m1"}, {Delta: "b", MessageID: "m1"}, {Delta: "c", MessageID: "m1"},
		{Delta: "d", MessageID: "m2"},
		{Delta: "e", MessageID: "m2", ParentToolCallID: "t1"},
		{Delta: long, MessageID: "m3"}, {Delta: "f", MessageID: "m3"}, {Delta: "g", MessageID: "m3"},
	} {
		q.Handle(e)
	}
	close(slow.letGo)
	q.Close(nil)
	want := []string{"m1 abc", "m2 d", "m2 e", "m3 " + long + "f", "m3 g"}
	if !slices.Equal(slow.pieces, want) {
		t.Errorf("shown were %.200q, want %.200q", slow.pieces, want)
	}
}

func TestAQuietStyleIsNotToldWhatTheAgentDoes(t *testing.T) {
	q := NewQueue(func(func() time.Time) Style { return &quietStyle{} })
	q.Handle(stream.Text{Delta: "x"})
	if len(q.items) > 0 {
		t.Errorf("%d events wait", len(q.items))
	}
	q.Note("a note")
	if len(q.items) != 1 {
		t.Errorf("%d events wait, want the note", len(q.items))
	}
}

func TestTerminalThatTakesNothingIsGivenUp(t *testing.T) {
	q, slow := newSlowQueue()
	giveUp := make(chan struct{})
	close(giveUp)
	q.Close(giveUp) // returns although the style still waits
	close(slow.letGo)
	<-q.done
}

func TestEventsKeepTheirTime(t *testing.T) {
	var clock func() time.Time
	seen := make(chan time.Time, 2)
	q := NewQueue(func(c func() time.Time) Style {
		clock = c
		return &timedStyle{seen: func() { seen <- clock() }}
	})
	now := begun
	q.now = func() time.Time { return now }
	q.Handle(stream.ToolCall{ID: "t1"})
	now = now.Add(time.Hour)
	q.HandleLoop(loop.End{})
	q.Start(func() loop.Status { return loop.Status{} })
	q.Close(nil)
	if first, second := <-seen, <-seen; first != begun || second != now {
		t.Errorf("shown with the times %v and %v", first, second)
	}
}

type timedStyle struct {
	mute
	seen func()
}

func (s *timedStyle) Handle(stream.Event)   { s.seen() }
func (s *timedStyle) HandleLoop(loop.Event) { s.seen() }
