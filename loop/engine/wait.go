package engine

import (
	"cmp"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// awaitAccount waits where another loop was refused for the account of this one.
func (l *engine) awaitAccount() {
	if until, why := l.fallback.Before(time.Now()); why != "" {
		l.events.warn([]string{why})
		l.waits.wait(loop.WaitRateLimit, 1, until)
	}
}

// waitAfter waits as long as a run asks for.
func (l *engine) waitAfter(r judge.Report, counts judge.Tally) {
	now := time.Now()
	p, news := l.fallback.Settle(r, counts, now)
	l.events.warn(news)
	switch p.Reason {
	case "":
	case loop.PauseQuota:
		l.spending.awaitCredits(r)
	case loop.WaitOverloaded:
		l.waits.waitAtCost(p.Reason, p.Attempt, p.Until, now)
	default:
		l.waits.tellPacing(p)
		l.waits.wait(p.Reason, p.Attempt, p.Until)
	}
}

// handOn ends a loop that was to run once: the state file says until when to wait.
func (l *engine) handOn(r judge.Report, counts judge.Tally) loop.End {
	now := time.Now()
	switch p := judge.PauseAfter(r, counts, now); p.Reason {
	case "":
	case loop.WaitOverloaded: // nobody is here to count it later
		l.state.SpentBefore.Elapsed += max(l.state.UntilLimit(p.Until, now).Sub(now), 0)
		l.waits.enterWait(p.Reason, p.Attempt, p.Until)
	case loop.PauseQuota: // the program that holds the loop asks again
		l.waits.enterWait(loop.WaitRateLimit, p.Attempt, p.Until)
	default:
		l.waits.tellPacing(p)
		l.waits.enterWait(p.Reason, p.Attempt, p.Until)
	}
	end, _ := l.conclude(r, func() loop.StopReason {
		why, _ := l.ending.mustStop()
		return cmp.Or(why, loop.StopOnce)
	})
	return end
}

// stays waits for the wish for another iteration where the program that holds the loop may have one, and has put down
// before all with which another process could go on. It is false once the loop is to end. Nothing is told the loop
// meanwhile, as none of its ends is.
func (l *waits) stays(end loop.End) bool {
	if l.host.Stay == nil || end.Reason != loop.StopOnce || l.status().State == loop.StateWaiting || l.stagnation.Repeated != "" {
		return false
	}
	var failed error
	l.files.saveBy(l.store.Transfer, nothing, func(_ loopstate.State, err error) { failed = err })
	if failed != nil { // the end says it
		return false
	}
	l.inbox.Elsewhere(func() { end.Tree = l.snapshots.AsIs() })
	end.Status = l.status()
	next, isWanted, over := l.host.Stay(end), false, make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-next:
			l.inbox.Tell(func() { isWanted = true })
		case <-over:
		}
	}()
	l.ending.rest(func() bool {
		why, _ := l.ending.mustStop()
		return isWanted || why != ""
	})
	if isWanted {
		l.state.Concluded = false
		l.record.stands()
	}
	return isWanted
}

// waitAtCost waits for what may never come, such as an overloaded provider. That
// counts as running time: else nothing would end the wait.
func (l *waits) waitAtCost(reason string, attempt int, until, now time.Time) {
	l.wait(reason, attempt, l.state.UntilLimit(until, now))
	l.state.SpentBefore.Elapsed += time.Since(now)
}

// tellPacing says once that runs are kept apart that may have done nothing.
func (l *waits) tellPacing(p judge.Pause) {
	if p.Reason == loop.WaitPacing && p.Attempt == 1 {
		l.events.warnf("two runs in a row ended within %v and used no tool: the loop now pauses between such runs, up to %v",
			judge.ShortRun, judge.ShortRunPause.Last)
	}
}

// wait waits until a time, or until the user wants to go on, to pause or to stop.
func (l *waits) wait(reason string, attempt int, until time.Time) {
	l.enterWait(reason, attempt, until)
	defer l.sentry.Rest()()
	l.inbox.Serve(func(bool) (over bool, due time.Time) {
		over = l.state.Wanted.IsEnd() || l.state.Wanted.Paused || l.state.Wanted.RetryNow
		l.state.Wanted.RetryNow = false
		return over || !time.Now().Before(until), until
	})
}

// enterWait keeps until when the loop waits, and only then counts as waiting: without
// that time it is then the user who wants to go on.
func (l *waits) enterWait(reason string, attempt int, until time.Time) {
	l.files.save(func(s *loopstate.State) { s.ResumeAt = until.UTC() }, func(err error) { // which shows at the next iteration
		l.state.WaitNoted = err == nil
		l.events.setState(loop.StateChanged{State: loop.StateWaiting, ResumeAt: until, Reason: reason},
			&loop.RetryStatus{Attempt: attempt, ResumeAt: until, Reason: reason})
	})
}

// enterPause writes down what the loop has used, once: it may be killed while
// nothing happens.
func (l *waits) enterPause() {
	if l.status().State == loop.StatePaused {
		return
	}
	l.files.save(func(s *loopstate.State) { s.ResumeAt = time.Time{} }, func(error) { // a failure shows at the next iteration
		l.events.setState(loop.StateChanged{State: loop.StatePaused, Reason: loop.PauseUser}, nil)
	})
}

// setState goes into a state and tells the observer, once.
func (l *events) setState(to loop.StateChanged, retry *loop.RetryStatus) {
	if l.isOver.Load() { // it was abandoned
		return
	}
	changed := l.state.Status.State != to.State || retry != nil
	l.state.Status.State, l.state.Status.Retry, l.state.IsRead = to.State, retry, false
	l.state.Wanted.RetryNow = false
	if changed {
		l.emit(to)
	}
}

// showCancelling tells the observer that the loop is being ended.
func (l *events) showCancelling() {
	if why := l.state.Wanted.Cause; why != "" {
		l.setState(loop.StateChanged{State: loop.StateCancelling, Reason: string(why)}, nil)
	}
}
