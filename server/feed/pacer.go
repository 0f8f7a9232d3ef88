package feed

import (
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// urgentBurst is how many urgent runs of a pacer may come at once, and in a second.
const urgentBurst = 4

// pacer runs a function after something changed: at most once per interval, or
// at once when it is urgent. While nothing changes it does nothing, and it never
// keeps those who tell it of a change waiting. Runs don't overlap, and the last
// one comes after the last change.
type pacer struct {
	interval time.Duration
	do       func()

	due  atomic.Bool // a run is coming that will see the change
	runs sync.Mutex  // held during a run

	mu      sync.Mutex // guards what follows
	timer   *time.Timer
	last    time.Time     // when the last run began
	urgent  *rate.Limiter // of urgent changes
	stopped bool
}

func newPacer(interval time.Duration, do func()) *pacer {
	return &pacer{interval: interval, do: do, urgent: rate.NewLimiter(urgentBurst, urgentBurst)}
}

// soon asks for a run within the interval.
func (p *pacer) soon() {
	if p.due.Load() { // most calls end here: agents are faster than intervals
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.due.Load() {
		p.schedule(time.Until(p.last.Add(p.interval)))
	}
}

// now asks for a run at once. When too many asked, it is soon.
func (p *pacer) now() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.urgent.Allow() {
		p.schedule(0)
	} else if !p.due.Load() {
		p.schedule(time.Until(p.last.Add(p.interval)))
	}
}

// schedule sets the next run. The caller holds mu.
func (p *pacer) schedule(wait time.Duration) {
	if p.stopped {
		return
	}
	p.due.Store(true)
	if p.timer == nil {
		p.timer = time.AfterFunc(wait, p.run)
	} else {
		p.timer.Reset(wait)
	}
}

func (p *pacer) run() {
	p.runs.Lock()
	defer p.runs.Unlock()
	p.mu.Lock()
	if p.stopped || !p.due.Load() { // an earlier run has seen to it
		p.mu.Unlock()
		return
	}
	p.due.Store(false) // before do: later changes need another run
	p.last = time.Now()
	p.mu.Unlock()
	p.do()
}

// stop waits for a run under way; no other will come.
func (p *pacer) stop() {
	p.runs.Lock()
	defer p.runs.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	if p.timer != nil {
		p.timer.Stop()
	}
}
