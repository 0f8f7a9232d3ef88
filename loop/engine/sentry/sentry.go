// Package sentry watches the goroutine of a loop's engine from outside of it.
//
// That goroutine reads files and runs git, and any of that may never come back. Nothing that ends a loop waits for it.
// At each place where it waits for something that may take for ever (an agent, a check, its user, a rate limit) it says
// so (Rest). Between two such places it may work for WorkLimit; time in which a git runs doesn't count, as each git has
// a deadline of its own. With --max-time over it is OvertimeLimit. Once the loop's end is asked for, by a signal, a
// cancel or a limit, waiting counts, too: the goroutine has the agent's grace, the time of a last snapshot (a quarter
// of a second for an interruption, 5 s with checkouts to merge, 30 s for a cancel or a limit), and EndLimit.
//
// Then the loop is abandoned (loop/engine/abandon.go), going by the status that its goroutine published last: its
// agents are ended, its end is told with the reason, and it can be resumed. So one SIGTERM or Ctrl-C ends a program
// whose loop hangs within 14 s. The goroutine itself can't be ended. It keeps the folder's lock until the process ends,
// or it comes back, finds its loop over and leaves everything as it is.
//
// The programs have a bound of their own for what else hangs (a start, a terminal): 20 s after the first SIGTERM or
// Ctrl-C, one second after the second; the third ends them at once. The sidecar of an editor ends at the second signal.
package sentry

import (
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/git"
)

const (
	// WorkLimit is how long the goroutine may be at work between two places where it waits for what may
	// take for ever. All that it does there has a bound of its own that is far below, but git's, which
	// doesn't count.
	WorkLimit = 10 * time.Minute
	// OvertimeLimit is the same once the loop's time is up.
	OvertimeLimit = 30 * time.Second
	// EndLimit is how much longer than what it was granted it may take to end that is asked to.
	EndLimit = 10 * time.Second

	// Tick is how long what is counted takes.
	Tick = time.Second
)

// Sentry watches the goroutine of a loop's engine: a read of a file that never answers, say, must keep
// nobody from ending the loop. It counts ticks and doesn't look at a clock, so no time counts in which
// this process was stopped or the machine slept. The zero value watches nothing.
type Sentry struct {
	mu      sync.Mutex
	ticks   *time.Timer
	left    time.Duration // until the goroutine hangs
	granted time.Duration // of what there is left, at its beginning
	rests   bool          // it waits for what may take for ever
	isAsked bool          // it is to end: no sign of life makes its time longer any more
	isOver  bool
	calls   Calls
}

// Calls are what a Sentry has done, each but IsLate in a goroutine of its own.
type Calls struct {
	IsLate func() bool        // the loop's time is up; asked while the goroutine gives no sign of life
	Late   func()             // it was, for OvertimeLimit
	Hung   func(words string) // the goroutine hangs, and why that is said; the watch is over
}

// Begin begins the watch.
func (s *Sentry) Begin(calls Calls) {
	s.mu.Lock()
	s.calls, s.ticks = calls, time.AfterFunc(time.Hour, s.tick)
	s.mu.Unlock()
	s.Beat()
}

// Beat is a sign of life: the goroutine begins something, and is back at a place like this within WorkLimit.
func (s *Sentry) Beat() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ticks == nil || s.isAsked || s.isOver {
		return
	}
	s.left, s.granted, s.rests = WorkLimit, WorkLimit, false
	s.ticks.Reset(Tick)
}

// Rest says that the goroutine waits for what may take for ever, until back is called.
func (s *Sentry) Rest() (back func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rests = true; s.ticks != nil && !s.isAsked {
		s.ticks.Stop()
	}
	return s.Beat
}

// Hurry says that the goroutine is to end within a time. The shortest counts.
func (s *Sentry) Hurry(limit time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ticks == nil || s.isOver {
		return
	}
	if !s.isAsked || limit < s.left {
		s.left, s.granted = limit, limit
	}
	s.isAsked = true
	s.ticks.Reset(Tick)
}

// End ends the watch.
func (s *Sentry) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isOver = true; s.ticks != nil {
		s.ticks.Stop()
	}
}

// tick counts time in which the goroutine gave no sign of life.
func (s *Sentry) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isOver || s.rests && !s.isAsked {
		return
	}
	if !s.isAsked && git.IsUnderWay() {
		s.ticks.Reset(Tick)
		return
	}
	if s.left -= Tick; s.left <= 0 {
		s.isOver = true
		go s.calls.Hung(s.words())
		return
	}
	if !s.isAsked && s.granted-s.left >= OvertimeLimit && s.calls.IsLate() {
		go s.calls.Late()
	}
	s.ticks.Reset(Tick)
}

// words say why the goroutine hangs.
func (s *Sentry) words() string {
	within := format.Duration(s.granted.Round(time.Second))
	if s.isAsked {
		return "it hung: it didn't end within " + within + " of being asked to"
	}
	return "it hung: for " + within + " it did nothing"
}
