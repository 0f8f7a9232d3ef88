package terminal

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/journal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

const (
	frame     = 5 * time.Millisecond   // between two looks at the journal, a third of what screens show
	maxBehind = 4 << 20                // bytes of the journal by which a terminal may lag before text is left out
	looking   = 500 * time.Millisecond // between two looks at the loop's status for a program that holds it
)

// Display shows a loop of this process: what its journal tells, as it comes. So no terminal makes
// an agent wait. It observes the loop for what the journal doesn't tell: that a message is over,
// and all that there is to know of an end.
type Display struct {
	style Style
	cfg   Config
	log   *journal.Log
	from  *journal.Follower

	mu      sync.Mutex
	asides  []func()      // are shown behind all that was told by now
	wake    chan struct{} // holds one signal
	closing chan struct{} // closed by Close
	close   sync.Once
	done    chan struct{} // closed when the style has everything

	iteration int // that is shown
	leftOut   int // bytes of text since that was told
}

// NewDisplay returns the Display in the style called name.
func NewDisplay(name string, cfg Config) *Display {
	return &Display{style: New(name, cfg), cfg: cfg, wake: make(chan struct{}, 1), closing: make(chan struct{}), done: make(chan struct{})}
}

// Start begins to show a loop, from what this process told first.
func (d *Display) Start(log *journal.Log, status func() loop.Status) {
	d.log, d.from = log, log.Follow(log.Begun(), 0)
	go func() {
		defer close(d.done)
		defer d.style.Close() // also on a panic: the terminal must be restored
		d.style.Live(status)
		d.follow()
		d.from.Close()
	}()
}

// Close shows what is left and restores the terminal. It gives up on a
// terminal that takes nothing when giveUp is closed.
func (d *Display) Close(giveUp <-chan struct{}) {
	d.close.Do(func() { close(d.closing) })
	select {
	case <-d.done:
	case <-giveUp:
	}
}

// Handle takes an event of the agent's.
func (d *Display) Handle(e stream.Event) {
	if end, ok := e.(stream.MessageEnd); ok && !end.Discarded {
		message, parent := end.MessageID, end.ParentToolCallID // the rest of it may be long
		d.aside(func() { d.style.Said(message, parent) })
	}
}

// HandleLoop takes an event of the loop's.
func (d *Display) HandleLoop(e loop.Event) {
	if end, ok := e.(loop.End); ok {
		d.aside(func() { d.style.End(end) })
	}
}

// Note takes a line of this program's own.
func (d *Display) Note(text string) { d.aside(func() { d.style.Note(text) }) }

// Left tells the program that holds the loop how that stands behind an iteration: the journal has no end, as it goes on.
func (d *Display) Left(end loop.End) { d.aside(func() { d.tell(end) }) }

func (d *Display) aside(show func()) {
	d.mu.Lock()
	d.asides = append(d.asides, show)
	d.mu.Unlock()
	select {
	case d.wake <- struct{}{}:
	default: // it is awake
	}
}

// follow shows what comes until all is shown.
func (d *Display) follow() {
	var looks <-chan time.Time
	if d.cfg.Statuses {
		ticks := time.NewTicker(looking)
		defer ticks.Stop()
		looks = ticks.C
	}
	for isLast := false; ; {
		begun := time.Now()
		d.mu.Lock()
		asides, now := d.asides, d.log.End()
		d.asides = nil
		d.mu.Unlock()
		d.show(now)
		for _, aside := range asides {
			aside()
		}
		if isLast {
			return
		}
		select {
		case <-d.from.News:
		case <-d.wake:
		case <-looks:
			d.style.Look()
		case <-d.closing:
		}
		select {
		case <-time.After(frame - time.Since(begun)):
		case <-d.closing:
			isLast = true
		}
	}
}

// show shows what the journal has before a cursor. Of what a terminal lags far behind it leaves out text.
func (d *Display) show(before string) {
	for more := true; more; {
		behind, _ := d.from.Waits()
		page, _, err := d.from.Next(context.Background(), journal.Options{Thinking: d.cfg.thinking, Before: before})
		if err != nil {
			d.warn(fmt.Sprintf("what the loop has told can't be read: %v", err))
			d.from.Close()
			d.from = d.log.Follow(d.log.End(), 0)
			return
		}
		if page.Skipped > 0 {
			d.warn("the journal couldn't keep all that was told; some of it isn't shown")
		}
		for _, it := range page.Items {
			d.iteration = it.Iteration
			switch {
			case it.Iteration == 0 && kindOf(it.JSON) == wire.KindUserChunk: // the user knows the prompt
			case it.Text && behind > maxBehind:
				d.leftOut += len(it.JSON)
			default:
				d.style.Show(it, true)
			}
		}
		if more = page.More; d.leftOut > 0 && (!more || behind <= maxBehind) {
			d.warn(fmt.Sprintf("the terminal is slow: %d KiB of text weren't shown", d.leftOut/1024+1))
			d.leftOut = 0
		}
	}
}

// warn shows a warning about what is shown.
func (d *Display) warn(text string) {
	d.tell(loop.Warning{Message: text})
}

// tell shows an event that the journal doesn't have.
func (d *Display) tell(e loop.Event) {
	update, _ := json.Marshal(new(wire.Projector).Loop(e))
	d.style.Show(journal.Item{JSON: update, Iteration: d.iteration, At: time.Now()}, true)
}
