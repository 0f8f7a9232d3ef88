package engine

import (
	"strings"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/snapshots"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
	"github.com/ralph-lsp/ralph-lsp/verify"
)

// proof is how far the verification of the last run's work has come. The state
// file has it: a loop that was killed goes on with it.
type proof struct {
	checking   bool   // it is to be verified before another run begins
	promised   string // what the run promised; "" is nothing
	unchecked  string // why nobody could tell: the loop pauses
	refutation string // what the next run is told
	accepted   bool   // the user believes the promise all the same
}

// enter puts into a state file how far the verification has come.
func (p proof) enter(s *loopstate.State) {
	s.Checking, s.Promised, s.Unchecked, s.Refutation = p.checking, p.promised, p.unchecked, p.refutation
}

// takeUpProof is the proof of a loop that goes on.
func takeUpProof(s loopstate.State) proof {
	return proof{checking: s.Checking, promised: s.Promised, refutation: s.Refutation, accepted: s.Checking && s.Accept}
}

// mustVerify says whether what a run did is to be verified, and takes that down.
func (l *checks) mustVerify(r *judge.Report) bool {
	check := l.cfg.Verify
	isDue := r.Verdict.Matched
	switch check.When {
	case verify.OnEach:
		isDue = isDue || r.Outcome == loop.OutcomeOK
	case verify.OnUntil: // a run that failed may have done it all the same
		isDue = isDue || r.Outcome != loop.OutcomeCancelled && !r.Refused() && !r.NeverBegan
	}
	if r.Checked = check.IsSet() && isDue; !r.Checked {
		return false
	}
	l.change(func(p *progress) {
		p.proof = proof{checking: true}
		if r.Verdict.Matched {
			p.proof.promised = r.Verdict.Promise
		}
	})
	return true
}

// verifyRun verifies what a run did, where the user wants that.
func (l *checks) verifyRun(r *judge.Report, iteration int) {
	if l.mustVerify(r) {
		l.prove(r, iteration)
	}
}

// verifyFirst verifies what is to be verified before any run: what the last one of
// a loop that goes on promised, and the folder of a loop that ends when a check passes.
func (l *Loop) verifyFirst() (end loop.End, ok bool) {
	var now progress
	l.change(func(p *progress) {
		if !l.cfg.Verify.IsSet() && !p.proof.accepted { // nobody is left to verify it: the next run may promise again
			p.proof = proof{refutation: p.proof.refutation}
		}
		p.proof.checking = p.proof.checking || l.cfg.Verify.When == verify.OnUntil
		now = *p
	})
	if !now.proof.checking {
		return end, false
	}
	r := judge.Report{Checked: true, Verdict: promises.Verdict{Promise: now.proof.promised}}
	if now.proof.accepted {
		l.accept(&r)
	} else {
		l.prove(&r, now.status.Iteration)
	}
	l.look(func(p *progress) { now = *p })
	return l.conclude(r, func() loop.StopReason {
		return judge.Decide(r, l.causeOf(r), now.counts, now.base, l.cfg.Verify, l.Status().Limits)
	})
}

// prove has the work pass the gates in their order. The first that it doesn't pass
// decides; one that can't tell is asked again when the user wants that. What is
// stopped is still to be verified.
func (l *checks) prove(r *judge.Report, iteration int) {
	check := l.cfg.Verify
	var hasPromised bool
	l.look(func(p *progress) { hasPromised = p.proof.promised != "" })
	isUntil := check.When == verify.OnUntil
	done := &checkedRun{iteration: iteration}
	for _, g := range gates {
		if !check.Has(g.name) || !g.each && !hasPromised && !isUntil {
			continue
		}
		for isPassed := false; !isPassed; {
			result, ok := l.pass(g, done)
			subject := check.Subject(g.name)
			switch {
			case !ok:
				return
			case result.State == verify.Verified:
				isPassed = true
				done.verdicts = append(done.verdicts, subject+" "+result.Why)
			case result.State == verify.Refuted, isUntil && result.Empty:
				l.refute(r, g, result)
				return
			case !hasPromised && !isUntil: // only the next promise needs it
				l.change(func(p *progress) { p.proof = proof{} })
				return
			default:
				if isPassed, ok = l.pauseUnchecked(loop.OneLine(subject + " " + result.Why)); !ok {
					return
				}
				if isPassed {
					l.emit(loop.Warning{Message: "accepted, although it could not be verified: " + loop.OneLine(subject+" "+result.Why)})
					done.verdicts = append(done.verdicts, loop.OneLine(subject+" "+result.Why)+" (the user accepts that)")
				}
			}
		}
	}
	if r.Passed = hasPromised || isUntil; r.Passed {
		r.Guards, r.Verified = l.snapshots.GuardsText(l.cfg.Verify, l.cfg.CheckFile), loop.OneLine(strings.Join(done.verdicts, ", "))
	}
	l.change(func(p *progress) { p.proof, p.counts.Refuted = proof{}, 0 })
}

// refute has the next run told what a gate has against the last one's work.
func (l *checks) refute(r *judge.Report, g gate, result verify.Result) {
	subject := l.cfg.Verify.Subject(g.name)
	l.change(func(p *progress) {
		hasPromised := p.proof.promised != ""
		if hasPromised || g.name == verify.ReviewerGate {
			p.counts.Refuted++
			r.Problem = loop.OneLine(subject + " " + result.Why)
			p.status.Error = r.Problem
		}
		p.proof = proof{refutation: g.refutation(subject, hasPromised, result)}
	})
}

// accept lets a run's promise count that nobody could verify.
func (l *checks) accept(r *judge.Report) {
	r.Passed, r.Guards, r.Verified = true, l.snapshots.GuardsText(l.cfg.Verify, l.cfg.CheckFile), "the user's word"
	l.change(func(p *progress) { p.proof = proof{} })
	l.emit(loop.Warning{Message: "what the agent promised is accepted, although it could not be verified"})
}

// refutation tells the next run what a gate found.
func (g gate) refutation(subject string, hasPromised bool, r verify.Result) string {
	begin := "After the last run this was checked: "
	if hasPromised {
		begin = "The last run said that all is done. That was checked, and it isn't: "
	}
	if g.name == verify.CommandGate {
		subject = "`" + subject + "`"
	}
	text := begin + loop.OneLine(subject+" "+r.Why) + "."
	if g.name == verify.ReviewerGate && r.Output != "" {
		return begin + loop.OneLine(subject) + " objects. It says:\n<review>\n" + snapshots.Quoted("review", r.Output) + "\n</review>"
	}
	if r.Output != "" {
		text += " From its output:\n<output>\n" + snapshots.Quoted("output", r.Output) + "\n</output>"
	}
	return text
}

// pauseUnchecked pauses the loop until the user wants the check to be tried again,
// or accepts what it couldn't tell. ok is false when the loop is to end.
func (l *checks) pauseUnchecked(why string) (accepted, ok bool) {
	l.pauseFor(loop.PauseUnchecked, func(s *loopstate.State) { s.Unchecked = why }, func(p *progress) { p.proof.unchecked = why })
	ok = l.awaitGoOn(func(p *progress) {
		accepted = p.proof.accepted
		p.proof.unchecked, p.proof.accepted = "", false
	})
	return accepted, ok
}

// pauseFor pauses the loop for a reason that its user has to see to, and notes that.
func (l *books) pauseFor(reason string, write func(*loopstate.State), note func(*progress)) {
	l.fileMu.Lock()                                                                   // else the user's word of before, or an agent's, might be read now
	l.saveBy(l.store.Update, func(s *loopstate.State) { s.Active = false; write(s) }) // a failure shows at the next iteration
	l.change(func(p *progress) { p.paused = true; note(p) })
	l.setState(loop.StateChanged{State: loop.StatePaused, Reason: reason}, nil)
	l.fileMu.Unlock()
}

// awaitGoOn waits in such a pause until the user wants the loop to go on. ok is false when it
// is to end.
func (l *books) awaitGoOn(then func(*progress)) (ok bool) {
	defer l.awaitWord(func(p *progress) bool { return p.paused })()
	for {
		var isOver bool
		l.change(func(p *progress) {
			isOver = p.cause != "" || p.lastRun || l.departure.wanted.Load()
			if ok = !p.paused; ok {
				then(p)
			}
		})
		if ok || isOver {
			return ok
		}
		<-l.wake
	}
}
