package loop

import (
	"fmt"
	"time"

	"ralph-lsp/loopstate"
)

// The waits for a rate limit whose end nobody knows: doubled each time.
const (
	firstLimitWait = time.Minute
	lastLimitWait  = 30 * time.Minute
)

// waitForLimit waits until the provider takes requests again.
func (l *Loop) waitForLimit(r report, attempt int) {
	until := r.resumeAt
	if now := time.Now(); !until.After(now) {
		until = now.Add(min(firstLimitWait<<min(attempt-1, 10), lastLimitWait))
	}
	l.wait("rate_limit", attempt, until)
}

// wait waits until a time, or until the user wants to go on, to pause or to stop.
func (l *Loop) wait(reason string, attempt int, until time.Time) {
	l.enterWait(reason, attempt, until)
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	for {
		l.mu.Lock()
		over := l.cause != "" || l.paused || l.lastRun || l.retryNow
		l.retryNow = false
		l.mu.Unlock()
		if over {
			return
		}
		select {
		case <-timer.C:
			return
		case <-l.wake:
		}
	}
}

// enterWait writes into the state file until when the loop waits, and only then
// counts as waiting: a file without that time then means that the user wants to go on.
func (l *Loop) enterWait(reason string, attempt int, until time.Time) {
	l.fileMu.Lock()
	defer l.fileMu.Unlock()
	l.store.Update(func(s *loopstate.State) error { // a failure shows at the next iteration
		l.writeProgress(s)
		s.ResumeAt = until.UTC()
		return nil
	})
	l.setState(StateChanged{State: StateWaiting, ResumeAt: until, Reason: reason},
		&RetryStatus{Attempt: attempt, ResumeAt: until, Reason: reason})
}

// enterPause writes down what the loop has used, once: it may be killed while
// nothing happens.
func (l *Loop) enterPause() {
	if l.Status().State == StatePaused {
		return
	}
	l.fileMu.Lock()
	defer l.fileMu.Unlock()
	l.store.Update(func(s *loopstate.State) error { // a failure shows at the next iteration
		l.writeProgress(s)
		return nil
	})
	l.setState(StateChanged{State: StatePaused, Reason: "user"}, nil)
}

// setState goes into a state and tells the observer, once.
func (l *Loop) setState(to StateChanged, retry *RetryStatus) {
	l.mu.Lock()
	changed := l.status.State != to.State || retry != nil
	l.status.State, l.status.Retry = to.State, retry
	l.retryNow = false
	l.mu.Unlock()
	if changed {
		l.emit(to)
	}
}

// showCancelling tells the observer that the loop is being ended.
func (l *Loop) showCancelling() {
	l.mu.Lock()
	ending, why := l.cause != "", l.cause
	l.mu.Unlock()
	if ending {
		l.setState(StateChanged{State: StateCancelling, Reason: string(why)}, nil)
	}
}

// warnAtStart says what about the loop's limits the user should know.
func (l *Loop) warnAtStart() {
	st := l.Status()
	if st.Limits.MaxCostUSD > 0 && !l.cfg.Backend.Output.HasCost() {
		l.emit(Warning{Message: fmt.Sprintf("%s doesn't tell what a run costs, so the cost cap can't be kept", l.cfg.Backend.Name)})
	}
	if st.Limits.MaxIterations == 0 && st.Limits.MaxCostUSD == 0 && st.Promise == "" {
		ends := "you, the time limit or the word LOOP_COMPLETE"
		if st.Limits.MaxDuration == 0 {
			ends = "you or the word LOOP_COMPLETE"
		}
		l.emit(Warning{Message: "no promise, no iteration limit, no budget: only " + ends + " will end this loop"})
	}
}
