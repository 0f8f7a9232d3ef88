package inbox_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop/engine/inbox"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// heard notes what it handles.
type heard struct{ lines []string }

func (h *heard) Handle(e stream.Event) { h.lines = append(h.lines, e.(stream.Text).Delta) }

func text(s string) stream.Event { return stream.Text{Delta: s} }

// What an agent says comes in its order, with what is to be done behind it, and nothing of it before the agent began.
func TestAReaderTellsAllInItsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, h, isOver := opened(), &heard{}, false
		r := inbox.NewReader(in, h)
		go func() {
			r.Handle(text("a"))
			r.Handle(text("b"))
			r.Flush(func() { h.lines = append(h.lines, "asks") })
			r.Handle(text("c"))
			r.Flush(nil)
			r.Flush(nil) // there is nothing
			in.Tell(func() { isOver = true })
		}()
		go func() {
			time.Sleep(time.Second)
			in.Tell(func() { h.lines = append(h.lines, "began") })
			r.Begin()
		}()
		in.Serve(func(bool) (bool, time.Time) { return isOver, time.Time{} })
		if got := strings.Join(h.lines, " "); got != "began a b asks c" {
			t.Errorf("got %s", got)
		}
	})
}

// A command waits behind a bounded part of a flood.
func TestAFloodComesInParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, h, isOver := opened(), &heard{}, false
		r := inbox.NewReader(in, h)
		r.Begin()
		var parts []int
		go func() {
			for range 200 {
				r.Handle(text("x"))
			}
			r.Flush(nil)
			in.Tell(func() { isOver = true })
		}()
		in.Serve(func(bool) (bool, time.Time) {
			parts = append(parts, len(h.lines))
			return isOver, time.Time{}
		})
		if want := []int{0, 64, 128, 192, 200, 200}; !slices.Equal(parts, want) {
			t.Errorf("it was looked at behind %v events, want %v", parts, want)
		}
	})
}

// Do returns when a thing is done, and at once where nobody does it.
func TestDoReturnsWhenItIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, isDone, returned := opened(), false, new(atomic.Bool)
		go func() {
			in.Do(func() { time.Sleep(time.Second); isDone = true })
			if returned.Store(true); !isDone {
				t.Error("it returned before")
			}
			in.Wake()
		}()
		in.Serve(func(bool) (bool, time.Time) { return returned.Load(), time.Time{} })
		in.Close()
		in.Do(func() { t.Error("it is done by nobody") })
	})
}
