package engine

import (
	"errors"
	"io/fs"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// leaveFile leaves the state file as the reason for the end demands. It returns
// the state in which that leaves the loop.
func (l *Loop) leaveFile(end loop.End, now time.Time) loop.State {
	ending := end.Reason.Ending()
	state, goesOn := ending.State, ""
	if ending.Kept && !l.cfg.Once {
		goesOn = string(loopstate.NewDocument(l.resumable()).Bytes())
	}
	err := l.register(&end, goesOn)
	if err != nil {
		l.emit(loop.Warning{Message: "how the loop ended isn't kept: " + err.Error()})
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
		_, err := l.saveBy(leave, func(s *loopstate.State) {
			if ending.HandsOn {
				s.Stuck = l.snapshots.Circles.Stuck
			} else {
				s.ResumeAt = time.Time{}
			}
			if state == loop.StateFailed {
				// That iteration counts: the next one begins when the loop goes on.
				s.Active, s.Iteration, s.Begun = false, max(s.Iteration-1, 1), s.Iteration > 1
				s.StopReason, s.StopError, s.StoppedAt = string(end.Reason), end.Problem(), now.UTC().Truncate(time.Second)
			}
		})
		if errors.Is(err, fs.ErrNotExist) {
			return loop.StateEnded // the user discarded it
		}
		if err != nil {
			l.emit(loop.Warning{Message: "the state file doesn't tell how the loop ended: " + err.Error()})
		}
	default:
		if err := l.store.Remove(); err != nil {
			l.emit(loop.Warning{Message: "the state file could not be removed: " + err.Error()})
		}
	}
	return state
}

// reopen takes out of a state file why its loop failed, as that goes on.
func reopen(s *loopstate.State) {
	s.StopReason, s.StopError, s.StoppedAt = "", "", time.Time{}
}

// finish leaves the folder as the reason for the end demands, and says goodbye.
func (l *Loop) finish(end loop.End) {
	now := time.Now()
	l.tellOuter()
	_, _ = l.countBudget()
	l.change(func(p *progress) { p.status.EndedAt = now })
	state := l.leaveFile(end, now)
	l.server.Close()
	l.walls.Close()
	if err := l.scope.Close(); err != nil {
		l.emit(loop.Warning{Message: "the temporary folder could not be removed: " + err.Error()})
	}
	l.kept(func(s setup.Session) { s.Close(&end) }) // before another may write to its file, or find it without an end
	if l.lock != nil {
		l.lock.Release()
	}
	last := end
	l.change(func(p *progress) {
		st := &p.status
		st.State, st.StopReason, st.Retry, st.Last = state, end.Reason, nil, &last
		if problem := end.Problem(); problem != "" {
			st.Error = problem
		}
	})
	end.Status = l.Status()
	l.end = end
	l.emit(loop.StateChanged{State: state}, end) // which closes its journal: who goes on writes it
	if end.Reason == loop.StopDetached {
		if err := l.departure.complete(l.cfg.Folder); err != nil {
			l.end.Error = loop.OneLine(err.Error())
		}
	}
	close(l.done)
}

// endOf makes the loop's last event.
func (l *Loop) endOf(why loop.StopReason, r judge.Report) (end loop.End) {
	l.change(func(p *progress) {
		if end = p.endOf(why, r); why == loop.StopNoProgress && r.Outcome != "" {
			end.Error = l.snapshots.Circles.Words(p.counts.NoProgress)
		}
		if why.Ending().State != loop.StateInterrupted { // who goes on has mended the reason
			p.counts = judge.Tally{Begun: p.counts.Begun}
		}
	})
	return end
}

// endOf is how the loop stands when it ends after a run.
func (p *progress) endOf(why loop.StopReason, r judge.Report) loop.End {
	end := loop.End{
		Reason: why, Iterations: p.status.Iteration, Cost: p.base.Cost, Unknown: p.base.Unknown, Hats: loop.HatsOf(p.base.Hats, p.known), Tokens: p.base.Tokens, Duration: p.base.Elapsed,
	}
	switch why {
	case loop.StopPromise:
		end.Promise, end.Iterations, end.Guards = r.Verdict.Promise, min(end.Iterations, p.base.Iterations), r.Guards
		end.Verified = r.Verified
	case loop.StopPermissionDenied:
		end.Denials = r.Exit.Result.Denials
	case loop.StopMaxIterations:
		end.Limit = p.status.Limits.MaxIterations
	}
	if why == loop.StopUnanswered {
		end.Unanswered, r.Problem = p.unanswered, p.unansweredText()
	}
	end.Unchecked = p.proof.Unchecked
	if why.Capped() || why == loop.StopDetached { // maybe before its first run
		end.Iterations = p.base.Iterations
		if p.proof.Checking && p.proof.Promised != "" {
			end.Error = "what the agent promised is still to be verified"
		}
	} else if why != loop.StopPromise {
		end.Error = r.Problem
	}
	return end
}
