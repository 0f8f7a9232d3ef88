package engine

import (
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/crew"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
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

// watching says what ends an agent, and what is done meanwhile. What isn't wanted is nil.
type watching struct {
	until func() time.Time    // when late is to be called; the zero time: only its exit is of interest now
	late  func(now time.Time) // output may have come since until was asked
	woken func()              // something is to be looked at
	beat  func()              // a beat has passed
}

// watch waits for whatever runs, as it is watched.
func (l *runs) watch(agent progress.Agent, w watching) backends.Exit {
	exited := make(chan backends.Exit, 1)
	go func() { exited <- agent.Wait() }()
	beats := time.NewTicker(beatInterval)
	defer beats.Stop()
	for last := time.Now(); ; {
		l.sentry.Beat() // it is back here within a beatInterval
		var late <-chan time.Time
		if at := w.until(); !at.IsZero() {
			late = time.After(time.Until(at))
		}
		select {
		case exit := <-exited:
			l.beat(last)
			return exit
		case <-beats.C:
			if last = l.beat(last); w.beat != nil {
				w.beat()
			}
		case <-late:
			last = l.beat(last)
			w.late(time.Now())
		case <-l.wake:
			if w.woken != nil {
				w.woken()
			}
			l.desk.EndRuns()
			l.tellAgents()
			l.showCancelling()
		}
	}
}

// deadlines are the moments at which the running agent has been silent, or has
// worked, for too long.
func (l *runs) deadlines() (idle, overtime time.Time) {
	never := time.Now().Add(1000 * time.Hour)
	idle, overtime = never, never
	last := l.lastSign()
	l.look(func(p *progress.State) {
		if p.Desk.HoldsAgent() { // it is the user who takes the time
			return
		}
		if limit := p.Status.Limits.IdleTimeout; limit > 0 {
			idle = last
			// What it said that it will be silent for; the agents of a crew tell each for itself.
			_, isCrew := p.Running.(*crew.Crew)
			if retry := p.Status.Retry; retry != nil && !isCrew && idle.Before(retry.ResumeAt) {
				idle = retry.ResumeAt
			}
			idle = idle.Add(limit)
		}
		if limit := p.Status.Limits.MaxDuration; limit > 0 {
			overtime = p.Overtime(limit - p.Base.Elapsed)
		}
		if p.Longest > 0 {
			overtime = progress.Earlier(overtime, p.Overtime(p.Longest))
		}
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

// overdue says which limit the run under way has worked for too long for.
func (l *runs) overdue(now time.Time) loop.StopReason {
	if p := l.now(); p.Longest == 0 || now.Before(p.Overtime(p.Longest)) {
		return loop.StopMaxTime
	}
	return judge.StopSlow
}
