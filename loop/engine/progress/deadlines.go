package progress

import (
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
)

// Deadlines returns the moments at which the run under way has been silent, or at work, for too long. last is its
// last sign of life. mayPause: an agent's own word that it will be silent counts; several agents have their own.
// isToolOpen: a tool of it is at work.
func (p *State) Deadlines(last time.Time, mayPause, isToolOpen bool) (idle, overtime time.Time) {
	never := time.Now().Add(1000 * time.Hour)
	idle, overtime = never, never
	if p.Pending.HoldsAgent() { // it is the user who takes the time
		return idle, overtime
	}
	if limit := p.Status.Limits.IdleTimeout; limit > 0 {
		idle = last
		if retry := p.Status.Retry; retry != nil && mayPause && idle.Before(retry.ResumeAt) {
			idle = retry.ResumeAt
		}
		if isToolOpen {
			idle = idle.Add(p.Status.Limits.Patience())
		}
		idle = idle.Add(limit)
	}
	if limit := p.Status.Limits.MaxDuration; limit > 0 {
		overtime = p.Overtime(limit - p.SpentBefore.Elapsed)
	}
	if p.Run.Longest > 0 {
		overtime = Earlier(overtime, p.Overtime(p.Run.Longest))
	}
	return idle, overtime
}

// Overdue says which limit the run under way has worked for too long for.
func (p *State) Overdue(now time.Time) loop.StopReason {
	if p.Run.Longest == 0 || now.Before(p.Overtime(p.Run.Longest)) {
		return loop.StopMaxTime
	}
	return judge.StopSlow
}
