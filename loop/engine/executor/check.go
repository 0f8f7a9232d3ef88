package executor

import (
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/tooluse"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// bookBeats is how many beats pass between two writes of the time that a check takes.
const bookBeats = 10

// Check is something that looks at the work of an iteration whose agents are gone: a command, or another agent.
type Check struct {
	Part
	Timeout   time.Duration // 0: no limit of its own
	MustSpeak bool          // it may be silent for no longer than an agent
	Beat      func()        // called each second

	tools tooluse.Log
}

// Check runs it until it and all that it started are gone. late says why it was ended, "" where it wasn't. The loop ends
// when its time is up meanwhile. An error means that it could not be started.
func (x *Executor) Check(c Check) (exit backends.Exit, late string, err error) {
	began, then, beats := time.Now(), c.Began, 1
	c.Began = func(agent progress.Agent) {
		x.setRunning(agent)
		if then != nil {
			then(agent)
		}
	}
	if then := c.Handler; then != nil {
		c.Handler = stream.HandlerFunc(func(e stream.Event) {
			c.tools.Follow(e, time.Now())
			then.Handle(e)
		})
	}
	it := x.launch(c.Part)
	w := &watch{
		x: x, it: it,
		until: func() (at time.Time) {
			if late == "" && x.State.Wanted.Cause == "" {
				idle, slow, overtime := x.checkDeadlines(began, &c)
				at = progress.Earlier(idle, progress.Earlier(slow, overtime))
			}
			return at
		},
		late: func(now time.Time) {
			switch idle, slow, overtime := x.checkDeadlines(began, &c); {
			case !now.Before(overtime):
				x.Stop(loop.StopMaxTime, backends.Grace)
			case !now.Before(slow):
				late = "took longer than " + format.Duration(c.Timeout)
				it.agent.Stop(backends.Grace)
			case !now.Before(idle):
				late = "fell silent"
				it.agent.Stop(backends.Grace)
			}
		},
		woken: func() {},
		beat: func() {
			if beats++; beats%bookBeats == 0 {
				x.Spent("")
			}
			x.Activity.listen(it.agent, &c.tools)
			c.Beat()
		},
	}
	w.serve(func() (bool, time.Time) { return it.isOver, time.Time{} })
	if it.err == nil && it.exit.Survivor != nil {
		x.warn(it.exit.Survivor.Error())
	}
	return it.exit, late, it.err
}

// checkDeadlines are the moments at which a check has been silent for too long, takes too long, and at which the loop's
// time is up. Time in which this process was stopped doesn't count.
func (x *Executor) checkDeadlines(began time.Time, c *Check) (idle, slow, overtime time.Time) {
	idle, overtime = x.deadlines(&c.tools)
	slow = overtime
	if c.Timeout > 0 && !x.Pending.HoldsAgent() {
		slow = began.Add(c.Timeout + x.State.Idle())
	}
	if !c.MustSpeak {
		idle = overtime
	}
	return idle, slow, overtime
}
