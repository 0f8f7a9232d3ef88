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
		l.state.Change(func(p *progress.State) {
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

// watch is how the engine waits for what runs: it takes note of beats, and says when it is late.
type watch struct {
	l     *runs
	it    *running
	until func() time.Time    // when late is to be called; the zero time: only its exit is of interest now
	late  func(now time.Time) // it is time, or was: a beat may have moved that
	woken func()              // something is to be looked at
	beat  func()              // a beat has passed

	last, next time.Time // the last beat, and when to look again
	isWoken    bool
	isStopped  bool          // as the loop is to end
	grace      time.Duration // with that
}

// serve serves the loop until something is so, which is asked behind all that happens, and when it is due. Before
// it runs nothing is late.
func (w *watch) serve(until func() (isSo bool, due time.Time)) {
	if !w.last.IsZero() {
		w.last = time.Now() // the engine was at work
	}
	defer w.takeBeat()
	w.l.inbox.Serve(func(woken bool) (bool, time.Time) {
		w.isWoken = w.isWoken || woken
		if isSo, due := until(); isSo || w.it.agent == nil || !w.look() {
			return isSo, progress.Earlier(due, w.next)
		}
		isSo, due := until()
		return isSo, progress.Earlier(due, w.next)
	})
}

// look does what is due, and says whether anything was.
func (w *watch) look() bool {
	switch now := time.Now(); {
	case w.last.IsZero():
		w.last = now
		w.l.sentry.Beat() // it is back here within a beatInterval
	case !w.isWoken && now.Before(w.next):
		return false
	}
	if w.isWoken {
		w.isWoken = false
		w.obey()
	}
	if at := w.until(); !at.IsZero() && !time.Now().Before(at) {
		w.takeBeat()
		w.late(w.last)
	}
	if !time.Now().Before(w.last.Add(beatInterval)) {
		w.takeBeat()
		w.l.setOwner()
		w.l.sentry.Beat()
		w.beat()
	}
	w.next = progress.Earlier(w.last.Add(beatInterval), w.until())
	return true
}

// obey does what the user wants by now.
func (w *watch) obey() {
	if now := w.l.state.Now(); now.Cause != "" && (!w.isStopped || now.Grace < w.grace) {
		w.isStopped, w.grace = true, now.Grace
		w.it.agent.Stop(now.Grace)
	}
	w.woken()
	w.l.desk.EndRuns()
	w.l.tellAgents()
	w.l.showCancelling()
}

// untilOver serves the loop until what runs is over.
func (w *watch) untilOver() {
	w.serve(func() (bool, time.Time) { return w.it.isOver, time.Time{} })
}

// takeBeat takes note of a stop since the last beat, which comes at least each beatInterval while an agent runs.
func (w *watch) takeBeat() {
	now := time.Now()
	if w.last.IsZero() { // nothing runs
		return
	}
	w.l.notePause(now.Sub(w.last)-beatInterval, now.Round(0).Sub(w.last.Round(0))-beatInterval)
	w.last = now
}

// deadlines are the moments at which the running agent has been silent, or has
// worked, for too long.
func (l *runs) deadlines() (idle, overtime time.Time) {
	last := l.lastSign()
	l.state.Look(func(p *progress.State) {
		_, isCrew := p.Running.(*crew.Crew)
		idle, overtime = p.Deadlines(last, !isCrew)
	})
	return idle, overtime
}

// lastSign is since when the running agent is silent; of several, the one that has been for longest.
func (l *runs) lastSign() time.Time {
	if c, ok := l.state.Now().Running.(*crew.Crew); ok {
		if last, ok := c.LastSign(); ok {
			return last
		}
	}
	return l.activity.Last()
}
