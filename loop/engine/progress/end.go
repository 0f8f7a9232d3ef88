package progress

import (
	"fmt"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// EndOf is how the loop stands when it ends after a run.
func (p *State) EndOf(why loop.StopReason, r judge.Report) loop.End {
	end := loop.End{
		Reason: why, Iterations: p.Status.Iteration, Cost: p.SpentBefore.Cost, Unknown: p.SpentBefore.Unknown,
		Hats: p.SpentBefore.Hats.WithRuns(p.LastRead.Queue.Runs), Tokens: p.SpentBefore.Tokens, Duration: stream.Duration(p.SpentBefore.Elapsed),
	}
	switch why {
	case loop.StopPromise:
		end.Promise, end.Iterations, end.Guards = r.Verdict.Promise, min(end.Iterations, p.SpentBefore.Iterations), r.Guards
		end.Verified = r.Verified
	case loop.StopPermissionDenied:
		end.Denials = r.Exit.Result.Denials
	case loop.StopMaxIterations:
		end.Limit = p.Status.Limits.MaxIterations
	case loop.StopUnanswered:
		end.Unanswered, r.Problem = p.Unanswered, p.unansweredText()
	}
	if why.Capped() { // maybe before its first run
		end.Iterations = p.SpentBefore.Iterations
		if p.Verification.Checking && p.Verification.Promised != "" {
			end.Error = "what the agent promised is still to be verified"
		} else {
			facts := p.facts()
			facts.Pending = p.LastRead.Queue.Pending
			end.Error = loop.Cause(facts)
		}
	} else if why != loop.StopPromise {
		end.Error = r.Problem
	}
	switch why {
	case loop.StopFailures, loop.StopUnverified, loop.StopStalled: // a repeated event may be why
		facts := p.facts()
		if why == loop.StopUnverified { // it says that itself
			facts.Refuted = 0
		}
		end.Error = withCause(end.Error, "; ", loop.Cause(facts))
	}
	return end
}

// facts are those from which is told what keeps the loop from being done.
func (p *State) facts() loop.Facts {
	return loop.Facts{Promise: p.Status.Promise, Tasks: p.Tasks, Account: p.Totals, Refuted: p.Counts.Refuted,
		Refutation: p.Verification.Refutation}
}

// Stagnated is how a loop ends that makes no progress, after words for that.
func (p *State) Stagnated(words string) string {
	return withCause(words, ": ", loop.Cause(p.facts()))
}

// withCause adds what keeps the loop from being done to words for how it ended, where anything is known of that.
func withCause(words, between, cause string) string {
	switch {
	case cause == "":
		return words
	case words == "":
		return cause
	default:
		return loop.OneLine(words + between + cause)
	}
}

// unansweredText says what nobody has answered.
func (p *State) unansweredText() string {
	switch n := len(p.Unanswered); {
	case p.Verification.Unchecked != "" && p.Verification.Promised != "":
		return loop.OneLine(fmt.Sprintf("what the agent promised (%s) could not be verified: %s", p.Verification.Promised,
			p.Verification.Unchecked))
	case p.Verification.Unchecked != "":
		return loop.OneLine("it could not be verified: " + p.Verification.Unchecked)
	case p.Unpriced > 0:
		return fmt.Sprintf("what %s in a row cost is unknown, so the cost cap can't be enforced", format.Counted(p.Unpriced, "run"))
	case p.Budget.Why != "":
		return loop.OneLine(p.Budget.Why)
	case n == 1:
		return loop.OneLine("the agent asked: " + p.Unanswered[0].Title)
	case n > 1:
		return loop.OneLine(fmt.Sprintf("the agent asked %s, the first one: %s", format.Counted(n, "question"), p.Unanswered[0].Title))
	}
	return ""
}

// Over says that the loop has ended.
func Over(st *loop.Status, state loop.State, end loop.End) {
	st.State, st.Pausing, st.StopReason, st.Retry, st.Last = state, false, end.Reason, nil, &end
	if problem := end.Problem(); problem != "" {
		st.Error = problem
	}
}
