// Package window is a terminal that owns a loop, which runs in a process of its own: the meaning of the terminal's
// signals, and of its end, for the loop.
package window

import (
	"context"
	"errors"
	"iter"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/keeper/client"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Spare is a keeper that is started while its start is still being prepared, which hides how long that takes. nil is none.
type Spare struct {
	started chan started
	isTaken atomic.Bool
}

type started struct {
	*client.Connection
	err error
}

// Prepare starts one.
func Prepare() *Spare {
	s := &Spare{started: make(chan started, 1)}
	go func() {
		c, err := client.Spawn()
		s.started <- started{c, err}
	}()
	return s
}

// Take returns the keeper, which is nobody else's from then on.
func (s *Spare) Take() (*client.Connection, error) {
	if s == nil || s.isTaken.Swap(true) { // the first start was refused
		return client.Spawn()
	}
	it := <-s.started
	return it.Connection, it.err
}

// Close ends a keeper that got no loop.
func (s *Spare) Close() {
	if s == nil || s.isTaken.Swap(true) {
		return
	}
	if it := <-s.started; it.err == nil {
		it.Close()
	}
}

type spareKey struct{}

// With is a context in which a spare is found.
func With(ctx context.Context, s *Spare) context.Context {
	return context.WithValue(ctx, spareKey{}, s)
}

// In is the spare of a context.
func In(ctx context.Context) *Spare {
	s, _ := ctx.Value(spareKey{}).(*Spare)
	return s
}

// Window is a terminal as the owner of a loop.
type Window struct {
	*client.Connection
	isKept bool          // the loop goes on without its window
	gone   chan struct{} // closed when this one waits for nothing more
	once   sync.Once
}

// Of is the window that has begun a loop with a configuration.
func Of(c *client.Connection, cfg setup.Config) *Window {
	return &Window{Connection: c, isKept: cfg.Values.OnClose == settings.OnCloseKeep, gone: make(chan struct{})}
}

// closePatience is how long a window that goes away waits for its loop's end.
const closePatience = 5 * time.Second

// Close is for a terminal that goes away.
func (w *Window) Close() {
	if w.isKept {
		w.giveUp()
		return
	}
	time.AfterFunc(closePatience, w.giveUp)
	w.Interrupt()
}

// Interrupt ends the loop such that it can be resumed.
func (w *Window) Interrupt() { w.ask(loop.DoInterrupt) }

// Kill ends the loop without any grace.
func (w *Window) Kill() {
	time.AfterFunc(closePatience, w.giveUp)
	w.ask(loop.DoKill)
}

func (w *Window) ask(do string) {
	if _, err := w.Do(loop.Request{Do: do}); err != nil && !errors.Is(err, loop.ErrNotRunning) {
		w.giveUp()
	}
}

func (w *Window) giveUp() { w.once.Do(func() { close(w.gone) }) }

// OrGone is closed when a channel is, or nothing is waited for any more.
func (w *Window) OrGone(other <-chan struct{}) <-chan struct{} {
	either := make(chan struct{})
	go func() {
		defer close(either)
		select {
		case <-other:
		case <-w.gone:
		}
	}()
	return either
}

// Wait returns how the loop ended, or left this window.
func (w *Window) Wait() (loop.End, error) {
	why := loop.StopDetached
	select {
	case <-w.Over():
		return w.End()
	case <-w.Detached():
	case <-w.gone:
		if !w.isKept {
			why = loop.StopInterrupted
		}
	}
	now := w.Status()
	return loop.End{Reason: why, Iterations: now.Iteration, Cost: now.Cost, Unknown: now.UnknownCosts, Tokens: now.Tokens,
		Duration: stream.Duration(now.Elapsed), Status: now}, nil
}

// openingPatience is how long the first iteration may take to begin until nobody waits for warnings any more.
const openingPatience = 5 * time.Second

// OpeningWarnings are what a loop warns of before its first iteration.
func OpeningWarnings(c *client.Connection, caught <-chan os.Signal) iter.Seq[string] {
	return func(yield func(string) bool) {
		late := time.After(openingPatience)
		for {
			page, _ := c.Next(false)
			for _, it := range page.Items {
				switch u := wire.Decode(it.JSON).(type) {
				case wire.Warning:
					if !yield(u.Message) {
						return
					}
				case wire.Iteration, wire.IterationEnd, wire.End:
					return
				case wire.StateChange: // it waits for something
					if u.State != loop.StateRunning && u.State != loop.StateStarting {
						return
					}
				}
			}
			select {
			case <-c.News():
			case <-c.Over():
				return
			case <-caught:
				return
			case <-late:
				return
			}
		}
	}
}
