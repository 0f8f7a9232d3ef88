package engine

import (
	"errors"
	"io/fs"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// leaveFile leaves the state file as the reason for the end demands. It returns
// the state in which that leaves the loop.
func (l *engine) leaveFile(end loop.End, now time.Time) loop.State {
	ending := end.Reason.Ending()
	state, goesOn := ending.State, ""
	if ending.Kept && !l.cfg.Once {
		goesOn = loopstate.Whole(l.resumable())
	}
	// The registry comes before the state file: a kill in between leaves both, rather than neither.
	err := l.host.Presence.Ends(now, end, goesOn)
	if err != nil {
		l.events.emit(loop.Warning{Message: "how the loop ended isn't kept: " + err.Error()})
	}
	switch {
	case ending.Untouched:
	case state.Left(), goesOn != "" && err != nil, l.cfg.Once && end.Reason.Capped(): // whose program may raise the limit
		if goesOn != "" {
			state = loop.StateInterrupted // its file is all that there is
		}
		leave := l.store.Leave
		if l.cfg.Once {
			leave = l.store.Transfer
		}
		var err error
		l.files.saveBy(leave, func(s *loopstate.State) {
			if ending.HandsOn {
				s.Stuck = l.stagnation.Repeated
			} else {
				s.ResumeAt = time.Time{}
			}
			if state == loop.StateFailed {
				// That iteration counts: the next one begins when the loop goes on.
				s.Active, s.Iteration, s.Begun = false, max(s.Iteration-1, 1), s.Iteration > 1
				s.Failed = loopstate.Failed{StopReason: string(end.Reason), StopError: end.Problem(), StoppedAt: now.UTC().Truncate(time.Second)}
			}
		}, func(_ loopstate.State, failed error) { err = failed })
		if errors.Is(err, fs.ErrNotExist) {
			return loop.StateEnded // the user discarded it
		}
		if err != nil {
			l.events.emit(loop.Warning{Message: "the state file doesn't tell how the loop ended: " + err.Error()})
		}
	default:
		var err error
		if l.inbox.Elsewhere(func() { err = l.store.Remove() }); err != nil {
			l.events.emit(loop.Warning{Message: "the state file could not be removed: " + err.Error()})
		}
	}
	return state
}

// resumable is the state with which a loop goes on whose state file is removed at its end.
func (l *engine) resumable() (s loopstate.State) {
	s = l.state.LastRead
	l.state.Enter(&s)
	s.Active, s.ResumeAt = true, time.Time{}
	return s
}

// finish leaves the folder as the reason for the end demands, and says goodbye. A loop that was
// abandoned meanwhile has done that.
func (l *engine) finish(end loop.End) {
	if l.isOver.Load() {
		l.host.Presence.Free()
		return
	}
	now := time.Now()
	l.inbox.Elsewhere(func() { _, _ = l.spending.countBudget() })
	l.state.Status.EndedAt = now
	state := l.leaveFile(end, now)
	l.walls.Close()
	if err := l.scope.Close(); err != nil {
		l.events.emit(loop.Warning{Message: "the temporary folder could not be removed: " + err.Error()})
	}
	l.files.queue.Rest() // a write of the run's spending may be under way
	if !l.isOver.CompareAndSwap(false, true) {
		l.host.Presence.Free()
		return
	}
	progress.Over(&l.state.Status, state, end)
	told := end
	told.Status = l.status()
	// The folder is released when the end is stored, and before anybody in this process reads it: an observer of the
	// end may start the next loop there, and a process that finds the folder free finds the end, too.
	l.host.Presence.Leave(&told)
	l.events.emit(loop.StateChanged{State: state}, told)
	l.ending.leave(told)
}

// endOf makes the loop's last event.
func (l *engine) endOf(why loop.StopReason, r judge.Report) (end loop.End) {
	if end = l.state.EndOf(why, r); why == loop.StopNoProgress && r.Outcome != "" {
		end.Error = l.state.Stagnated(l.stagnation.Text(l.state.Counts.NoProgress))
	}
	if why.Ending().State != loop.StateInterrupted { // a user who goes on has mended the reason
		l.state.Counts = judge.Tally{Begun: l.state.Counts.Begun}
	}
	return end
}
