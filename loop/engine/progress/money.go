package progress

import (
	"math"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// NearlySpent is the part of the cost cap of which the user is warned.
const NearlySpent = 0.8

// Cost is what the loop has cost, with the run under way.
func (p *State) Cost() stream.Cost { return p.SpentBefore.Cost.Plus(p.Run.Current.Cost) }

// Left is what the loop may still spend, of its own cap and of the budget.
func (p *State) Left() float64 {
	left := math.Inf(1)
	if limit := p.Status.Limits.MaxCostUSD; limit > 0 {
		left = limit - p.Cost().USD
	}
	return max(min(left, p.LeftOfBudget()), 0)
}

// LeftOfBudget is what all loops may still spend.
func (p *State) LeftOfBudget() float64 { return p.Budget.Left(p.Cost().USD) }

// OutOf says which limit of money is reached if so many US dollars more are spent: StopMaxCost, judge.StopSpent, or "".
func (p *State) OutOf(reserved float64) loop.StopReason {
	switch limit := p.Status.Limits.MaxCostUSD; {
	case !p.Cost().Known:
		return ""
	case limit > 0 && p.Cost().USD+reserved >= limit:
		return loop.StopMaxCost
	case p.LeftOfBudget() <= reserved:
		return judge.StopSpent
	}
	return ""
}

// Answered takes down what an answer of a model has cost, and returns the most that one has in this loop, in US dollars.
func (p *State) Answered(usd float64) (most float64) {
	p.DearestAnswer = max(p.DearestAnswer, usd)
	return p.DearestAnswer
}

// Enter puts into a state what the loop counts: the iteration that runs or runs
// next, and what it has used, with the run under way.
func (p *State) Enter(s *loopstate.State) {
	s.Iteration, s.Begun = p.SpentBefore.Iterations+1, p.UnderWay
	s.Elapsed = p.Elapsed().Truncate(time.Millisecond)
	s.Tokens = p.SpentBefore.Tokens.Plus(p.Run.Current.Tokens)
	s.InARow, s.UnknownCosts, s.Account = p.Counts.InARow, p.SpentBefore.Unknown, p.Totals
	s.HatCosts, s.Allowed = p.hatCosts(), p.Pending.Rules()
	p.Verification.Keep(s)
	s.Tasks = p.Tasks
	s.OverBudget = p.Budget.Why
	s.Failed = loopstate.Failed{} // it goes on
	p.Steering.Keep(s)
	s.Cost = p.Cost()
	s.Cost.USD = math.Round(max(s.Cost.USD, 0)*1e6) / 1e6 // sums of floats have long tails
}

// Account adds a run to what the loop has used, and counts how it went.
func (p *State) Account(r judge.Report) {
	usage := r.Exit.Result.Usage
	r.Unpriced = p.Run.PartUnknown || !usage.Cost.Known && r.Exit.Result.Lines > 0 && !r.NeverBegan && (r.Woke || !r.Refused())
	p.Counts.Add(r)
	p.Run.PartUnknown, p.UnderWay = false, false
	// A run that a provider refused is no iteration: a night of rate limits would use up --max-iterations. Neither
	// is one that its user ended, unless a limit or "next" did.
	if !r.Refused() && (r.Outcome != loop.OutcomeCancelled || r.Cause.Capped() || r.Cause == judge.Skipped || r.Cause == judge.StopSpent) {
		p.SpentBefore.Iterations++
		if !r.NeverBegan { // it may be told again to the next one
			p.Steering.Counted()
			p.Verification.Refutation = ""
		}
	}
	if !r.Unreached { // an agent that can't reach its provider tries again for minutes
		p.SpentBefore.Elapsed += r.Exit.Duration
	}
	p.Book(usage, r.Unpriced)
}

// Book adds what a run has used to what the loop has.
func (p *State) Book(usage stream.Usage, isUnpriced bool) {
	p.Run.Current = stream.Usage{}
	p.SpentBefore.Cost, p.SpentBefore.Tokens = p.SpentBefore.Cost.Plus(usage.Cost), p.SpentBefore.Tokens.Plus(usage.Tokens)
	p.SpentBefore.Hats, p.Run.Hat = p.SpentBefore.Hats.Plus(p.Run.Hat, usage.Cost, isUnpriced), ""
	if isUnpriced {
		p.SpentBefore.Unknown++
	}
}
