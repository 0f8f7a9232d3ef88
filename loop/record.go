package loop

import (
	"cmp"

	"ralph-lsp/changes"
	"ralph-lsp/history"
	"ralph-lsp/verify"
)

// recordOf is an event of the loop's as its session file holds it, nil for one
// that is of no interest afterwards.
func recordOf(e Event) history.Record {
	switch e := e.(type) {
	case IterationStart:
		return history.IterationStart{Iteration: e.Iteration, MaxIterations: e.MaxIterations, Hat: e.Hat, Topic: e.Topic}
	case Goal:
		return history.Goal(e)
	case Told:
		return history.Input{Kind: history.InputAgent, Text: e.Text}
	case Published:
		return history.Published(e)
	case IterationEnd:
		return history.IterationEnd{
			Iteration: e.Iteration, Hat: e.Hat, Outcome: string(e.Outcome), Error: e.Error, CostUSD: history.KnownCost(e.Cost),
			Tokens: e.Tokens, Turns: e.Turns, ToolCalls: e.ToolCalls,
			DurationMs: e.Duration.Milliseconds(), Skipped: e.Skipped, Changes: (*history.Changes)(e.Changes),
		}
	case NearMiss:
		return history.NearMiss{Found: e.Found, Expected: e.Expected, Why: e.Why}
	case Verify:
		if e.State == verify.Running {
			return nil
		}
		return verificationRecord(e)
	case Guidance:
		return history.Guidance{ID: e.ID, State: string(e.State)}
	case Asked:
		return history.Question(e.Question)
	case Answered:
		q := history.Question(e.Question)
		q.Detail = "" // the question's own record has it
		return history.Answer{Question: q, Kind: e.Answer.Kind, Text: e.Answer.Text, By: e.Answer.By}
	case Warning:
		return history.Warning{Message: e.Message}
	case LimitsChanged:
		return history.Limits{Message: e.Limits.Given().Message(), Promise: e.Promise}
	}
	return nil
}

func verificationRecord(e Verify) history.Verification {
	r := history.Verification{
		Gate: string(e.Gate), State: string(e.State), Command: e.Command, Promised: e.Promised, Why: e.Why,
		DurationMs: e.Duration.Milliseconds(), CostUSD: history.KnownCost(e.Cost), Output: e.Output,
	}
	if e.Code >= 0 {
		r.ExitCode = &e.Code
	}
	for _, p := range e.Problems {
		r.Problems = append(r.Problems, history.Problem(p))
	}
	return r
}

func verificationEvent(r history.Verification) Verify {
	e := Verify{
		Gate: cmp.Or(verify.Gate(r.Gate), verify.CommandGate), State: verify.State(r.State), Command: r.Command, Promised: r.Promised, Why: r.Why, Code: -1,
		Duration: history.DurationOf(r.DurationMs), Cost: history.CostOf(r.CostUSD), Output: r.Output,
	}
	if r.ExitCode != nil {
		e.Code = *r.ExitCode
	}
	for _, p := range r.Problems {
		e.Problems = append(e.Problems, verify.Problem(p))
	}
	return e
}

func endRecord(e End) history.LoopEnd {
	return history.LoopEnd{
		StopReason: string(e.Reason), Promise: e.Promise, Iterations: e.Iterations, Limit: e.Limit, CostUSD: history.KnownCost(e.Cost),
		Tokens: e.Tokens, DurationMs: e.Duration.Milliseconds(), Error: e.Error,
		Denials: e.Denials, Changes: (*history.Changes)(e.Changes), Guards: e.Guards, Hats: HatRecords(e.Hats),
	}
}

// EventOf is the event of the loop's that a record was made of, nil for a
// record that is none.
func EventOf(r history.Record) Event {
	switch r := r.(type) {
	case history.IterationStart:
		return IterationStart{Iteration: r.Iteration, MaxIterations: r.MaxIterations, Hat: r.Hat, Topic: r.Topic}
	case history.Published:
		return Published(r)
	case history.IterationEnd:
		return IterationEnd{
			Iteration: r.Iteration, Hat: r.Hat, Outcome: Outcome(r.Outcome), Error: r.Error, Cost: history.CostOf(r.CostUSD),
			Tokens: r.Tokens, Turns: r.Turns, ToolCalls: r.ToolCalls,
			Duration: history.DurationOf(r.DurationMs), Skipped: r.Skipped, Changes: (*changes.Summary)(r.Changes),
		}
	case history.Goal:
		return Goal(r)
	case history.NearMiss:
		return NearMiss{Found: r.Found, Expected: r.Expected, Why: r.Why}
	case history.Verification:
		return verificationEvent(r)
	case history.Guidance:
		return Guidance{ID: r.ID, State: GuidanceState(r.State)}
	case history.Question:
		return Asked{Question(r)}
	case history.Answer:
		return Answered{Question(r.Question), Answer{r.Kind, r.Text, r.By}}
	case history.Warning:
		return Warning{Message: r.Message}
	case history.Limits:
		given, _ := r.Given() // what can't be is no limit
		return LimitsChanged{Limits: given.Over(Limits{}), Promise: r.Promise}
	case history.LoopEnd:
		return endEvent(r)
	}
	return nil
}

func endEvent(r history.LoopEnd) End {
	return End{
		Reason: StopReason(r.StopReason), Promise: r.Promise, Iterations: r.Iterations, Limit: r.Limit, Cost: history.CostOf(r.CostUSD),
		Tokens: r.Tokens, Duration: history.DurationOf(r.DurationMs), Error: r.Error,
		Denials: r.Denials, Changes: (*changes.Summary)(r.Changes), Guards: r.Guards, Hats: hatEvents(r.Hats),
	}
}

// HatRecords are what hats have cost, as a session file has it.
func HatRecords(hats []HatCost) (records []history.HatCost) {
	for _, h := range hats {
		records = append(records, history.HatCost{Hat: h.Hat, Runs: h.Runs, CostUSD: history.KnownCost(h.Cost), Estimated: h.Incomplete})
	}
	return records
}

func hatEvents(records []history.HatCost) (hats []HatCost) {
	for _, r := range records {
		hats = append(hats, HatCost{r.Hat, r.Runs, history.CostOf(r.CostUSD), r.Estimated})
	}
	return hats
}
