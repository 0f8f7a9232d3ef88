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
		goesOn = loopstate.Whole(l.record.resumable())
	}
	// The registry comes before the state file: who is killed in between leaves both, and not neither.
	err := l.record.registerEnd(l.record.entry(), end, goesOn)
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
			leave = l.store.HandOn
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

// finish leaves the folder as the reason for the end demands, and says goodbye. A loop that was
// abandoned meanwhile has done that.
func (l *engine) finish(end loop.End) {
	if l.isOver.Load() {
		l.record.release()
		return
	}
	now := time.Now()
	l.inbox.Elsewhere(func() { _, _ = l.spending.countBudget() })
	l.state.Status.EndedAt = now
	state := l.leaveFile(end, now)
	l.server.Close()
	l.walls.Close()
	if err := l.scope.Close(); err != nil {
		l.events.emit(loop.Warning{Message: "the temporary folder could not be removed: " + err.Error()})
	}
	l.files.queue.Rest() // what a run has spent may just be written down
	if !l.isOver.CompareAndSwap(false, true) {
		l.record.release()
		return
	}
	progress.Over(&l.state.Status, state, end)
	told := end
	told.Status = l.status()
	// The folder is let go when the end is kept, and before anybody here reads it: who hears of the end may start the
	// next loop there, and who finds the folder free needn't guess whether an end is still to come.
	l.record.letGo(&told)
	l.events.emit(loop.StateChanged{State: state}, told)
	l.ending.leave(told)
}

// endOf makes the loop's last event.
func (l *engine) endOf(why loop.StopReason, r judge.Report) (end loop.End) {
	if end = l.state.EndOf(why, r); why == loop.StopNoProgress && r.Outcome != "" {
		end.Error = l.state.Stagnated(l.stagnation.Text(l.state.Counts.NoProgress))
	}
	if why.Ending().State != loop.StateInterrupted { // who goes on has mended the reason
		l.state.Counts = judge.Tally{Begun: l.state.Counts.Begun}
	}
	return end
}
