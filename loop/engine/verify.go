package engine

import (
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/inbox"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/proof"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
	"github.com/ralph-lsp/ralph-lsp/verify"
)

// mustVerify says whether what a run did is to be verified, and takes that down.
func (l *verification) mustVerify(r *judge.Report) bool {
	return l.state.Proof.Begin(l.cfg.Verify, r)
}

// verifyFirst verifies what is to be verified before any run: what the last one of
// a loop that goes on promised, and the folder of a loop that ends when a check passes.
func (l *engine) verifyFirst() (end loop.End, ok bool) {
	if !l.cfg.Verify.IsSet() && !l.state.Proof.Accepted { // nobody is left to verify it: the next run may promise again
		l.state.Proof = proof.State{Refutation: l.state.Proof.Refutation}
	}
	l.state.Proof.Checking = l.state.Proof.Checking || l.cfg.Verify.When == verify.OnUntil
	if !l.state.Proof.Checking {
		return end, false
	}
	r := judge.Report{Checked: true, Verdict: promises.Verdict{Promise: l.state.Proof.Promised}}
	if l.state.Proof.Accepted {
		l.verification.accept(&r)
	} else {
		l.verification.prove(&r, l.state.Status.Iteration)
	}
	return l.decide(r)
}

// prove has the work pass the gates. What is stopped is still to be verified.
func (l *verification) prove(r *judge.Report, iteration int) {
	done := &checkedRun{iteration: iteration, Row: proof.Row{Check: l.cfg.Verify, HasPromised: l.state.Proof.Promised != ""}}
	row := make([]proof.Gate, len(gates))
	for i, g := range gates {
		row[i] = g.Gate
	}
	came, by, result := done.Pass(row, func(i int) (verify.Result, bool) { return l.pass(gates[i], done) }, l.pauseUnchecked)
	switch came {
	case proof.Refuted:
		l.refute(r, by, result)
	case proof.Moot:
		l.state.Proof = proof.State{}
	case proof.Passed:
		if r.Passed = done.Counts(); r.Passed {
			r.Guards, r.Verified = l.guards(l.cfg.Verify), loop.OneLine(strings.Join(done.Verdicts, ", "))
		}
		l.state.Proof, l.state.Counts.Refuted = proof.State{}, 0
	}
}

// refute has the next run told what a gate has against the last one's work.
func (l *verification) refute(r *judge.Report, g verify.Gate, result verify.Result) {
	hasPromised := l.state.Proof.Promised != ""
	if hasPromised || g == verify.ReviewerGate {
		l.state.Counts.Refuted++
		r.Problem = loop.OneLine(l.cfg.Verify.Subject(g) + " " + result.Why)
		l.state.Status.Error = r.Problem
	}
	l.state.Proof = proof.State{Refutation: proof.Refutation(l.cfg.Verify, g, hasPromised, result)}
}

// accept lets a run's promise count that nobody could verify.
func (l *verification) accept(r *judge.Report) {
	r.Passed, r.Guards, r.Verified = true, l.guards(l.cfg.Verify), "the user's word"
	l.state.Proof = proof.State{}
	l.events.emit(loop.Warning{Message: "what the agent promised is accepted, although it could not be verified"})
}

// guards names what a check is verified by and the loop changed, "" for nothing.
func (l *verification) guards(check verify.Check) string {
	return inbox.Found(&l.inbox, func() string { return l.snapshots.GuardsText(check, l.cfg.CheckFile) })
}

// pauseUnchecked pauses the loop until the user wants the check to be tried again,
// or accepts what it couldn't tell. ok is false when the loop is to end.
func (l *verification) pauseUnchecked(why string) (accepted, ok bool) {
	l.waits.pauseFor(loop.PauseUnchecked, func(s *loopstate.State) { s.Unchecked = why }, func() { l.state.Proof.Unchecked = why })
	ok = l.waits.awaitGoOn(func() {
		accepted = l.state.Proof.Accepted
		l.state.Proof.Unchecked, l.state.Proof.Accepted = "", false
	})
	if accepted {
		l.events.emit(loop.Warning{Message: "accepted, although it could not be verified: " + why})
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
	l.record.setOwner()
	l.ending.rest(func() bool {
		if ok = !l.state.Wanted.Paused; ok {
			then()
		}
		return ok || l.state.Wanted.IsEnd()
	})
	return ok
}
