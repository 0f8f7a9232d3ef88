package engine

import (
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/inbox"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// verifyFirst verifies what is to be verified before any run.
func (l *engine) verifyFirst() (end loop.End, ok bool) {
	r, isDue := l.state.Verification.Before()
	if !isDue {
		return end, false
	}
	l.checks.settle(&r, l.state.Status.Iteration)
	return l.decide(r)
}

// settle finds out whether the work of an iteration is what was asked for, and says so in r.
func (l *checks) settle(r *judge.Report, iteration int) {
	before := r.Problem
	l.state.Verification.Settle(r, &l.state.Counts, &inspection{checks: l, iteration: iteration, check: l.cfg.Verification.Check})
	if r.Problem != before {
		l.state.Status.Error = r.Problem
	}
}

// guardsOf names what a check is verified by and the loop changed, "" for nothing.
func (l *checks) guardsOf(check verify.Check) string {
	return inbox.Found(&l.inbox, func() string { return l.snapshots.GuardsText(check, l.cfg.Verification.File) })
}

// Guards implements verification.Host.
func (in *inspection) Guards() string { return in.guardsOf(in.check) }

// Warn implements verification.Host.
func (in *inspection) Warn(text string) { in.events.emit(loop.Warning{Message: text}) }

// Pause implements verification.Host.
func (in *inspection) Pause(why string) (accepted, ok bool) {
	l := in.checks
	l.waits.pauseFor(loop.PauseUnchecked, func(s *loopstate.State) { s.Unchecked = why }, func() { l.state.Verification.Unchecked = why })
	ok = l.waits.awaitGoOn(func() {
		accepted = l.state.Verification.Accepted
		l.state.Verification.Unchecked, l.state.Verification.Accepted = "", false
	})
	if accepted {
		in.Warn("accepted, although it could not be verified: " + why)
	}
	return accepted, ok
}

// pauseFor pauses the loop for a reason that its user has to see to, and notes that.
func (l *waits) pauseFor(reason string, write func(*loopstate.State), note func()) {
	l.files.saveBy(l.store.Update, func(s *loopstate.State) { s.Active = false; write(s) }, func(loopstate.State, error) {
		// Before the file is read again, which may have its user's word of before, or an agent's. A failure shows at the next iteration.
		l.state.Wanted.Paused = true
		note()
		l.events.setState(loop.StateChanged{State: loop.StatePaused, Reason: reason}, nil)
	})
}

// awaitGoOn waits in such a pause until the user wants the loop to go on. ok is false when it
// is to end.
func (l *waits) awaitGoOn(then func()) (ok bool) {
	defer l.questions.awaitWord(func() bool { return l.state.Wanted.Paused })()
	l.state.WaitsSince = time.Now()
	defer func() { l.state.WaitsSince = time.Time{} }()
	l.record.stands()
	l.ending.rest(func() bool {
		if ok = !l.state.Wanted.Paused; ok {
			then()
		}
		return ok || l.state.Wanted.IsEnd()
	})
	return ok
}
