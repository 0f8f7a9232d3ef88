package terminal

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

const (
	frame     = 5 * time.Millisecond   // between two looks at the journal, a third of what screens show
	maxBehind = 4 << 20                // bytes of the journal by which a terminal may lag before text is left out
	looking   = 500 * time.Millisecond // between two looks at the loop's status for a program that holds it
)

// Story is what a Display shows.
type Story interface {
	// News has a signal when there is something to show.
	News() <-chan struct{}
	// Next is what can be shown now, and how many bytes of it follow.
	Next(thinking bool) (page journal.Page, behind int64)
}

// OfLog is the story of a loop of this process.
type OfLog struct{ *journal.Follower }

// News implements Story.
func (s OfLog) News() <-chan struct{} { return s.Follower.News }

// Next implements Story.
func (s OfLog) Next(thinking bool) (journal.Page, int64) {
	behind, _ := s.Waits()
	page, _, err := s.Follower.Next(context.Background(), journal.Options{Thinking: thinking})
	if err != nil {
		page.Skipped++
	}
	return page, behind
}

// Display shows a loop: what its story tells, as it comes. So no terminal makes an agent wait.
type Display struct {
	style Style
	cfg   Config
	story Story

	mu      sync.Mutex
	asides  []func()      // are shown behind all that was told by now
	wake    chan struct{} // holds one signal
	closing chan struct{} // closed by Close
	close   sync.Once
	done    chan struct{} // closed when the style has everything

	end       *loop.End // that the story has told last; nil: the loop goes on
	iteration int       // that is shown
	mayLeave  bool      // text may be left out: people look at it, and don't search it
	leftOut   int       // bytes of text since that was told
}

// NewDisplay returns the Display in the style called name.
func NewDisplay(name string, cfg Config) *Display {
	return &Display{style: New(name, cfg), cfg: cfg, mayLeave: cfg.terminal && name != JSON, wake: make(chan struct{}, 1),
		closing: make(chan struct{}), done: make(chan struct{})}
}

// Start begins to show a loop.
func (d *Display) Start(story Story, status func() loop.Status) {
	d.story = story
	go func() {
		defer close(d.done)
		defer d.style.Close() // also on a panic: the terminal must be restored
		d.style.Live(status)
		d.follow()
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

// End takes how the loop ended. Where it runs in another process, the story tells that, unless that process was killed.
func (d *Display) End(end loop.End) {
	d.aside(func() {
		if d.cfg.Here != "" || d.end == nil {
			d.end = &end
			d.style.End(end)
		}
	})
}

// Ended is how the loop ended that was shown. It is called behind Close, and ok is false where that gave up before.
func (d *Display) Ended() (end loop.End, ok bool) {
	select {
	case <-d.done:
	default:
		return end, false
	}
	if d.end == nil {
		return end, false
	}
	return *d.end, true
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
		asides := d.asides
		d.asides = nil
		d.mu.Unlock()
		d.show()
		for _, aside := range asides {
			aside()
		}
		if isLast {
			return
		}
		select {
		case <-d.story.News():
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

// show shows what there is. Of what a terminal lags far behind it leaves out text.
func (d *Display) show() {
	for more := true; more; {
		page, behind := d.story.Next(d.cfg.thinking)
		if page.Skipped > 0 {
			d.warn("the journal couldn't keep all that was told; some of it isn't shown")
		}
		for _, it := range page.Items {
			d.iteration = it.Iteration
			kind := wire.KindOf(it.JSON)
			switch kind {
			case wire.KindEnd:
				if u, ok := wire.Decode(it.JSON).(wire.End); ok {
					d.end = &u.End
				}
			case wire.KindIteration:
				d.end = nil
			}
			switch {
			case it.Iteration == 0 && d.cfg.Here != "" && kind == wire.KindUserChunk: // the user knows the prompt
			case it.Text && d.mayLeave && behind > maxBehind:
				d.leftOut += len(it.JSON)
			default:
				d.style.Show(it, d.cfg.IsLive == nil || d.cfg.IsLive())
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
