// Package verification is the policy of a loop whose promises have to pass checks: what has to be verified, the gates
// that it passes in a row, and what the next run is told of that. It asks no gate itself: its Host does.
package verification

import (
	"strings"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// Policy verifies the work of one loop. Its knowledge is in the state file, so a killed loop goes on with it. It is
// for one goroutine.
type Policy struct {
	Check verify.Check
	State
}

// State is how far the verification of the last run's work has come.
type State struct {
	loopstate.Verification
	Refutation string // what the next run is told
	Accepted   bool   // the user believes the promise all the same
}

// Keep puts into a state file how far the verification has come.
func (s State) Keep(to *loopstate.State) {
	to.Verification, to.Refutation = s.Verification, s.Refutation
}

// Resume is the policy of a loop that goes on, or begins, with a state file.
func Resume(check verify.Check, s loopstate.State) Policy {
	was := s.Verification
	was.Unchecked = ""
	return Policy{check, State{was, s.Refutation, s.Checking && s.Accept}}
}

// Before says whether something has to be verified before any run: the last promise of a loop that goes on, or the
// folder of a loop that ends when a check passes. r goes to Settle.
func (p *Policy) Before() (r judge.Report, isDue bool) {
	if !p.Check.IsSet() && !p.Accepted { // nobody is left to verify it: the next run may promise again
		p.State = State{Refutation: p.Refutation}
	}
	p.Checking = p.Checking || p.Check.When == verify.OnUntil
	return judge.Report{Checked: true, Verdict: promises.Verdict{Promise: p.Promised}}, p.Checking
}

// After says whether what a run did is to be verified, and takes that down.
func (p *Policy) After(r *judge.Report) bool {
	isDue := r.Verdict.Matched
	switch p.Check.When {
	case verify.OnEach:
		isDue = isDue || r.Outcome == loop.OutcomeOK
	case verify.OnUntil: // a run that failed may have done it all the same
		isDue = isDue || r.Outcome != loop.OutcomeCancelled && !r.Refused() && !r.NeverBegan
	}
	if r.Checked = p.Check.IsSet() && isDue; !r.Checked {
		return false
	}
	p.State = State{Verification: loopstate.Verification{Checking: true}}
	if r.Verdict.Matched {
		p.Promised = r.Verdict.Promise
	}
	return true
}

// Tell has the next run told something more of the last one.
func (p *Policy) Tell(text string) { p.Refutation = strings.TrimSpace(p.Refutation + "\n\n" + text) }

// Host is the loop, as Settle needs it.
type Host interface {
	// Ask asks a gate, for as long as that takes. verdicts are the verdicts of the gates before it. ok is false when
	// the loop is to end before the gate has answered.
	Ask(g verify.Gate, verdicts []string) (r verify.Result, ok bool)
	// Pause pauses the loop, as no gate can tell, until its user wants it asked again, or accepts that. It isn't ok when the
	// loop is to end.
	Pause(why string) (accepted, ok bool)
	// Guards names what the check is verified by and the loop changed, "" for nothing.
	Guards() string
	Warn(text string)
}

// isForAll says whether runs that promise nothing pass a gate, too, with verify.OnEach: it costs nothing but time.
func isForAll(g verify.Gate) bool { return g == verify.CommandGate || g == verify.DiagnosticsGate }

// Settle passes the work of a run through the gates in their order, and puts the result into r. The first gate that
// doesn't pass decides; one without an answer is asked again when the user wants that. Stopped work still has to be
// verified.
func (p *Policy) Settle(r *judge.Report, t *judge.Tally, host Host) {
	if p.Accepted {
		p.pass(r, t, host, "the user's word")
		host.Warn("what the agent promised is accepted, although it could not be verified")
		return
	}
	isUntil, hasPromised := p.Check.When == verify.OnUntil, p.Promised != ""
	var verdicts []string
	for _, g := range verify.Gates() {
		if !p.Check.Has(g) || !isForAll(g) && !hasPromised && !isUntil {
			continue
		}
		for isPassed := false; !isPassed; {
			result, ok := host.Ask(g, verdicts)
			verdict := p.Check.Subject(g) + " " + result.Why
			switch {
			case !ok:
				return
			case result.State == verify.Verified:
				isPassed = true
			case result.State == verify.Refuted, isUntil && result.Empty:
				p.refute(r, t, g, result)
				return
			case !hasPromised && !isUntil: // only the next promise needs it
				p.State = State{}
				return
			default:
				verdict = loop.OneLine(verdict)
				if isPassed, ok = host.Pause(verdict); !ok {
					return
				}
				verdict += " (the user accepts that)"
			}
			if isPassed {
				verdicts = append(verdicts, verdict)
			}
		}
	}
	if hasPromised || isUntil {
		p.pass(r, t, host, loop.OneLine(strings.Join(verdicts, ", ")))
		return
	}
	p.State, t.Refuted = State{}, 0
}

// pass has a run end the loop. by is what verifies its work.
func (p *Policy) pass(r *judge.Report, t *judge.Tally, host Host, by string) {
	r.Passed, r.Guards, r.Verified = true, host.Guards(), by
	p.State, t.Refuted = State{}, 0
}

// refute has the next run told what a gate has against the last one's work.
func (p *Policy) refute(r *judge.Report, t *judge.Tally, g verify.Gate, result verify.Result) {
	hasPromised := p.Promised != ""
	if hasPromised || g == verify.ReviewerGate {
		t.Refuted++
		r.Problem = loop.OneLine(p.Check.Subject(g) + " " + result.Why)
	}
	p.State = State{Refutation: Refutation(p.Check, g, hasPromised, result)}
}

// Unchecked is the answer of a gate that can't tell.
func Unchecked(why string) verify.Result {
	return verify.Result{State: verify.Unchecked, Why: why, Code: -1}
}
