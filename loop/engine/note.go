package engine

import (
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// setOwner writes the lock's record, with what leads whoever has to end our
// agents if we can't to them.
func (l *record) setOwner() {
	p := &l.state
	if p.Desk != nil { // it has begun
		l.publish()
	}
	if l.lock == nil {
		return
	}
	owner, remains := l.owner, slices.Clone(p.Run.Besides)
	owner.Detached = p.Status.Detached
	owner.Leaving, owner.Live = p.Concluded || p.Wanted.Cause != "", p.IsLive()
	owner.AtWork = slices.DeleteFunc(slices.Clone(p.Status.Agents), progress.IsOthers)
	if p.Desk != nil {
		owner.Allowed, owner.Questions, owner.Deadline = p.Desk.Rules(), p.Desk.ForFile(), p.Deadline(time.Now())
	}
	if p.Run.Running != nil {
		owner.Since, owner.Tool = p.Status.IterationStartedAt, progress.Small(p.Status.Tool)
		owner.Elapsed, owner.ElapsedAt = p.Elapsed(), time.Now()
	}
	if l.scope != nil {
		remains = slices.Insert(remains, 0, l.scope.Remains())
	}
	for _, r := range remains {
		if r.Mark > 0 {
			owner.Reapers = append(owner.Reapers, loopstate.Reaper{PID: r.Reaper.PID, ProcessStart: r.Reaper.Start, Mark: r.Mark})
		}
	}
	for _, a := range p.Run.Agents {
		if len(owner.Reapers) == 0 {
			owner.Agents = append(owner.Agents, loopstate.Agent{PID: a.PID(), ProcessStart: a.StartMark()})
		}
	}
	l.lock.SetOwner(owner) // the record only helps; the lock is what counts
}
