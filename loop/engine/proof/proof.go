// Package proof decides whether an iteration's work is what was asked for: how far its verification has
// come (State), the row of gates that it passes (Row), and what is said of that, to the next run and to
// a reviewer.
//
// It asks nobody itself. Whoever runs the gates hands Pass what asks them, and what has the user decide
// where none can tell.
package proof

import (
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/verify"
)

// State is how far the verification of the last run's work has come. The state
// file has it: a loop that was killed goes on with it.
type State struct {
	Checking   bool   // it is to be verified before another run begins
	Promised   string // what the run promised; "" is nothing
	Unchecked  string // why nobody could tell: the loop pauses
	Refutation string // what the next run is told
	Accepted   bool   // the user believes the promise all the same
}

// Enter puts into a state file how far the verification has come.
func (p State) Enter(s *loopstate.State) {
	s.Checking, s.Promised, s.Unchecked, s.Refutation = p.Checking, p.Promised, p.Unchecked, p.Refutation
}

// TakeUp is the state of a loop that goes on.
func TakeUp(s loopstate.State) State {
	return State{Checking: s.Checking, Promised: s.Promised, Refutation: s.Refutation, Accepted: s.Checking && s.Accept}
}

// Begin says whether what a run did is to be verified, and takes that down.
func (p *State) Begin(check verify.Check, r *judge.Report) bool {
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
	*p = State{Checking: true}
	if r.Verdict.Matched {
		p.Promised = r.Verdict.Promise
	}
	return true
}

// Gate is one of what a promise has to pass.
type Gate struct {
	Name verify.Gate
	Each bool // with verify.OnEach it is passed by runs that promise nothing, too
}

// Row is the row of gates that one run's work passes.
type Row struct {
	Check       verify.Check
	HasPromised bool
	Verdicts    []string // what the gates said so far
}

// Course is what came of a row.
type Course int

const (
	Stopped Course = iota // nothing: the loop is to end, and it is still to be verified
	Refuted               // a gate has something against the work
	Moot                  // a gate can't tell, and only the next promise needs it
	Passed
)

// Pass has the work pass the gates in their order. The first that it doesn't pass
// decides; one that can't tell is asked again when the user wants that. ask and pause are not ok
// when the loop is to end.
func (row *Row) Pass(gates []Gate, ask func(i int) (verify.Result, bool), pause func(why string) (accepted, ok bool)) (came Course, by verify.Gate, result verify.Result) {
	isUntil := row.Check.When == verify.OnUntil
	for i, g := range gates {
		if !row.Check.Has(g.Name) || !g.Each && !row.HasPromised && !isUntil {
			continue
		}
		for isPassed := false; !isPassed; {
			var ok bool
			if result, ok = ask(i); !ok {
				return Stopped, g.Name, result
			}
			verdict := row.Check.Subject(g.Name) + " " + result.Why
			switch {
			case result.State == verify.Verified:
				isPassed = true
				row.Verdicts = append(row.Verdicts, verdict)
			case result.State == verify.Refuted, isUntil && result.Empty:
				return Refuted, g.Name, result
			case !row.HasPromised && !isUntil:
				return Moot, g.Name, result
			default:
				verdict = loop.OneLine(verdict)
				if isPassed, ok = pause(verdict); !ok {
					return Stopped, g.Name, result
				}
				if isPassed {
					row.Verdicts = append(row.Verdicts, verdict+" (the user accepts that)")
				}
			}
		}
	}
	return Passed, "", result
}

// Counts says whether a row that was passed ends the loop.
func (row *Row) Counts() bool { return row.HasPromised || row.Check.When == verify.OnUntil }

// Unchecked is the answer of a gate that can't tell.
func Unchecked(why string) verify.Result {
	return verify.Result{State: verify.Unchecked, Why: why, Code: -1}
}
