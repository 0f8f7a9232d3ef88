package engine

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// setOwner writes the owner's record, with what leads whoever has to end our
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
	owner.Leaving, owner.Live = p.Concluded || p.Wanted.Cause != "", p.IsLive()
	if p.Desk != nil {
		owner.Status, _ = json.Marshal(progress.Recorded(l.known.Load().status)) // without, its state file tells
	}
	if p.Run.Running != nil {
		owner.WorksAt = time.Now()
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
