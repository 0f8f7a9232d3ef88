package terminal

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// slowStyle is a terminal that takes nothing until it is let go.
type slowStyle struct {
	items
	letGo   chan struct{}
	waiting chan struct{}
	seen    []string
	text    int
	closed  bool
}

func (s *slowStyle) Live(func() loop.Status) {
	close(s.waiting)
	<-s.letGo
}

func (s *slowStyle) Show(it journal.Item, isLive bool) {
	if it.Text {
		s.text += len(it.JSON)
	} else {
		s.seen = append(s.seen, string(it.JSON))
	}
}

func (s *slowStyle) Note(text string) { s.seen = append(s.seen, text) }
func (s *slowStyle) End(loop.End)     { s.seen = append(s.seen, "over") }
func (s *slowStyle) Close()           { s.closed = true }

func idle() loop.Status { return loop.Status{} }

// ends passes on how a loop ends.
type ends struct{ *Display }

func (ends) Handle(stream.Event) {}

func (e ends) HandleLoop(event loop.Event) {
	if end, ok := event.(loop.End); ok {
		e.End(end)
	}
}

// displayed is a Display of a loop that is told of.
func displayed(t *testing.T, style Style, cfg Config) (*Display, *journal.Recorder) {
	t.Setenv(paths.EnvState, t.TempDir())
	d := NewDisplay(Quiet, cfg)
	d.style = style
	r := journal.NewRecorder(ends{d})
	log := r.Open(rand.Text(), false)
	d.Start(OfLog{log.Follow(log.Begun(), 0)}, idle)
	return d, r
}

func newSlow(t *testing.T) (*Display, *journal.Recorder, *slowStyle) {
	slow := &slowStyle{letGo: make(chan struct{}), waiting: make(chan struct{})}
	d, r := displayed(t, slow, Config{terminal: true, Here: "/w"})
	<-slow.waiting
	return d, r, slow
}

func TestSlowTerminalLosesTextOnly(t *testing.T) {
	d, r, slow := newSlow(t)
	const pieces = 200_000
	for range pieces { // 10 MB: more than it may lag behind
		r.Handle(stream.Text{Delta: strings.Repeat("x", 50), MessageID: "m1"})
	}
	r.Handle(stream.ToolCall{ID: "t1"})
	r.Handle(stream.ToolResult{ID: "t1", Output: "long output"})
	d.Note("a note")
	r.HandleLoop(loop.End{})
	close(slow.letGo)
	d.Close(nil)
	if slow.text < maxBehind/2 || slow.text > maxBehind+2*journal.MaxPage {
		t.Errorf("%d bytes of text were shown", slow.text)
	}
	rest := strings.Join(slow.seen, "\n")
	if strings.Count(rest, `"message":"the terminal is slow: `) != 1 || !slow.closed {
		t.Errorf("%q, closed %v", rest, slow.closed)
	}
	for _, want := range []string{`"tool_call","toolCallId":"t1"`, "long output", `"_ralph/end"`, "a note", "over"} {
		var ok bool
		if _, rest, ok = strings.Cut(rest, want); !ok {
			t.Errorf("%q isn't told, or too early, in %q", want, slow.seen)
		}
	}
}

func TestTerminalThatTakesNothingIsGivenUp(t *testing.T) {
	d, _, slow := newSlow(t)
	giveUp := make(chan struct{})
	close(giveUp)
	d.Close(giveUp) // returns although the style still waits
	close(slow.letGo)
	<-d.done
}

// What an agent says that it has used ends its message: nothing else may come for long.
func TestTheEndOfAMessageShowsIt(t *testing.T) {
	var out bytes.Buffer
	shown := make(chan string, 10)
	style := &watched{Style: newPretty(Config{Out: &out, Width: func() int { return 60 }}), saw: func(kind string) {
		if kind == wire.KindUsage {
			shown <- out.String()
		}
	}}
	d, r := displayed(t, style, Config{})
	r.Handle(stream.Text{Delta: "I look at", MessageID: "m1"})
	r.Handle(stream.Text{Delta: " it", MessageID: "m1"})
	r.Handle(stream.Usage{Context: 10})
	r.Handle(stream.MessageEnd{MessageID: "m1"})
	if got := <-shown; got != "I look at it\n" {
		t.Errorf("%q", got)
	}
	r.Handle(stream.Text{Delta: "Now this", MessageID: "m2"})
	r.HandleLoop(loop.End{})
	d.Close(nil)
	if got := out.String(); !strings.HasPrefix(got, "I look at it\n\nNow this\n") {
		t.Errorf("%q", got)
	}
}

// watched tells what was shown.
type watched struct {
	Style
	saw func(kind string)
}

func (w *watched) Show(it journal.Item, isLive bool) {
	w.Style.Show(it, isLive)
	w.saw(wire.KindOf(it.JSON))
}

// Each update has the time at which it was told, however late it is shown.
func TestUpdatesKeepTheirTime(t *testing.T) {
	all := new(items)
	before := time.Now().Truncate(time.Millisecond)
	d, r := displayed(t, all, Config{})
	r.Handle(stream.ToolCall{ID: "t1"})
	r.Handle(stream.ToolProgress{ID: "t1", Output: "x"})
	r.HandleLoop(loop.End{})
	d.Close(nil)
	var got []string
	for _, it := range all.items {
		got = append(got, wire.KindOf(it.JSON))
		if it.At.Before(before) || it.At.After(time.Now()) {
			t.Errorf("%s has the time %v", it.JSON, it.At)
		}
	}
	if fmt.Sprint(got) != "[tool_call _ralph/end]" && fmt.Sprint(got) != "[tool_call tool_call_update _ralph/end]" {
		t.Errorf("%q", got)
	}
}
