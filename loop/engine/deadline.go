package engine

import (
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop/engine/crew"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
)

// notePause takes note of how late a beat is, by the clock that stands still while the machine
// sleeps and by that of the wall. The first counts for limits, the second for silence.
func (l *runs) notePause(late, byTheWall time.Duration) {
	if late > stoppedFor {
		l.change(func(p *progress.State) {
			if !p.Desk.HoldsAgent() { // else that is part of it
				p.Stopped += late
			}
		})
	}
	if slept := max(late, byTheWall); slept > sleptFor {
		l.activity.Wake()
	} else if slept > stoppedFor {
		l.activity.Excuse()
	}
}

// watching says what ends an agent, and what is done meanwhile.
type watching struct {
	until func() time.Time    // when late is to be called; the zero time: only its exit is of interest now
	late  func(now time.Time) // it is time, or was: a beat may have moved that
	woken func()              // something is to be looked at
	beat  func()              // a beat has passed
}

// watch serves the loop until what runs is over, as it is watched. Before it runs nothing is late.
func (l *runs) watch(it *running, w watching) {
	var last, next time.Time // the last beat, and when to look again
	var isWoken bool
	l.inbox.Serve(func(woken bool) (isOver bool, due time.Time) {
		isWoken = isWoken || woken
		switch now := time.Now(); {
		case it.agent == nil:
			return it.isOver, due
		case it.isOver:
			l.beat(last)
			return true, due
		case last.IsZero():
			last = now
			l.sentry.Beat() // it is back here within a beatInterval
		case !isWoken && now.Before(next):
			return false, next
		}
		if isWoken {
			isWoken = false
			w.woken()
			l.desk.EndRuns()
			l.tellAgents()
			l.showCancelling()
		}
		if at := w.until(); !at.IsZero() && !time.Now().Before(at) {
			last = l.beat(last)
			w.late(last)
		}
		if !time.Now().Before(last.Add(beatInterval)) {
			last = l.beat(last)
			l.sentry.Beat()
			w.beat()
		}
		if next = last.Add(beatInterval); !w.until().IsZero() {
			next = progress.Earlier(next, w.until())
		}
		return false, next
	})
}

// deadlines are the moments at which the running agent has been silent, or has
// worked, for too long.
func (l *runs) deadlines() (idle, overtime time.Time) {
	last := l.lastSign()
	l.look(func(p *progress.State) {
		_, isCrew := p.Running.(*crew.Crew)
		idle, overtime = p.Deadlines(last, !isCrew)
	})
	return idle, overtime
}

// lastSign is since when the running agent is silent; of several, the one that has been for longest.
func (l *runs) lastSign() time.Time {
	if c, ok := l.now().Running.(*crew.Crew); ok {
		if last, ok := c.LastSign(); ok {
			return last
		}
	}
	return l.activity.Last()
}
