package executor

import (
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/tooluse"
)

// A beat that is as late as stoppedFor tells that this process was stopped
// (Ctrl-Z), or that the machine slept: that time isn't the agent's, and what it said meanwhile is
// still to be read. On a busy machine one may be as late, too: only one that is as late as sleptFor
// tells that connections are broken.
const (
	beatInterval = time.Second
	stoppedFor   = time.Second
	sleptFor     = 10 * time.Second
)

// NotePause takes note of how late a beat is, by the clock that stands still while the machine sleeps, and by the
// wall clock. The first counts for limits, the second for silence.
func (x *Executor) NotePause(late, byTheWall time.Duration) {
	if late > stoppedFor && !x.Pending.HoldsAgent() { // else that is part of it
		x.State.Run.Stopped += late
	}
	if slept := max(late, byTheWall); slept > sleptFor {
		x.Activity.Wake()
	} else if slept > stoppedFor {
		x.Activity.Excuse()
	}
}

// watch is how the engine waits for what runs: it takes note of beats, and says when it is late.
type watch struct {
	x     *Executor
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
	w.x.Inbox.Serve(func(woken bool) (bool, time.Time) {
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
		w.x.Sentry.Beat() // it is back here within a beatInterval, while something runs
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
		w.x.Note()
		w.x.Sentry.Beat()
		w.beat()
	}
	w.next = progress.Earlier(w.last.Add(beatInterval), w.until())
	return true
}

// obey does what the user wants by now.
func (w *watch) obey() {
	if wanted := &w.x.State.Wanted; wanted.Cause != "" && (!w.isStopped || wanted.Grace < w.grace) {
		w.isStopped, w.grace = true, wanted.Grace
		w.it.agent.Stop(wanted.Grace)
	}
	w.woken()
	w.x.Pending.EndRuns()
	w.x.Obey()
}

// takeBeat takes note of a stop since the last beat, which comes at least each beatInterval while an agent runs.
func (w *watch) takeBeat() {
	now := time.Now()
	if w.last.IsZero() { // nothing runs
		return
	}
	w.x.NotePause(now.Sub(w.last)-beatInterval, now.Round(0).Sub(w.last.Round(0))-beatInterval)
	w.last = now
}

// deadlines are the moments at which the work has been silent, or at work, for too long. tools are the tools of the
// only agent.
func (x *Executor) deadlines(tools *tooluse.Log) (idle, overtime time.Time) {
	last := x.Activity.Last()
	e, isSeveral := x.State.Run.Running.(*Execution)
	if isSeveral = isSeveral && !e.Solo; isSeveral { // the one that is silent for longest
		if sign, ok := e.lastSign(); ok {
			last = sign
		}
	}
	return x.State.Deadlines(last, !isSeveral, tools.IsOpen())
}

// attend makes the watch over an iteration's agents. It ends them when a limit is reached.
func (x *Executor) attend(e *Execution) *watch {
	stop := func(why loop.StopReason) { e.endBy(why, func() { e.Stop(backends.Grace) }) }
	return &watch{
		x: x, it: &e.it, beat: e.listen,
		until: func() (at time.Time) {
			if e.ours == "" {
				at = progress.Earlier(x.deadlines(e.tools()))
			}
			return at
		},
		late: func(now time.Time) {
			switch idle, overtime := x.deadlines(e.tools()); {
			case !now.Before(overtime):
				stop(x.State.Overdue(now))
			case !now.Before(idle):
				if !e.endSilent(backends.Grace) {
					stop(loop.StopStalled)
				}
			}
		},
		woken: func() {
			if spent := x.State.OutOf(0); spent != "" {
				stop(spent)
			}
			if x.State.Wanted.Skip {
				e.endBy(judge.Skipped, func() { e.Abort(backends.Grace) })
			}
		},
	}
}

// tools returns the tools of the only agent; several agents have their own signs of life.
func (e *Execution) tools() *tooluse.Log {
	if e.Solo && len(e.runs) > 0 {
		return &e.runs[0].tools
	}
	return &tooluse.Log{}
}

// endBy ends the agents as a limit is reached, or for a reason like it.
func (e *Execution) endBy(why loop.StopReason, by func()) {
	if e.ours == "" {
		e.ours = why
		e.x.State.Run.Ending = true
		by()
	}
}
