package budget

import (
	"fmt"
	"math"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
)

// Policy is what the user's budget wants of a loop, by what all loops had spent when it was counted last. It is for one
// goroutine.
type Policy struct {
	Limits Limits
	Why    string // for which the loop pauses, in words; "" when it doesn't

	left    float64 // for all loops, when it was counted
	counted float64 // this loop's total then, in US dollars
}

// NewPolicy returns the policy of a loop that begins: nothing is counted yet.
func NewPolicy(l Limits) Policy { return Policy{Limits: l, left: math.Inf(1)} }

// Count takes down what all loops have spent, and of that this one.
func (p *Policy) Count(all Spent, usd float64) { p.left, p.counted = p.Limits.Left(all), usd }

// Left is what a loop may spend that has spent so many US dollars by now; +Inf without limits.
func (p *Policy) Left(usd float64) float64 {
	if !p.Limits.IsSet() {
		return math.Inf(1)
	}
	return p.left - (usd - p.counted)
}

// Unknown is of how many runs nobody knows what they have cost.
type Unknown struct {
	InARow, InAll int
	Most          int  // in a row, after which the loop pauses; 0: never
	IsCapped      bool // it has a cost cap, which sees to them itself
}

// Before says why no run may begin; "" when one may. failed is what kept the budget from being counted.
func (p *Policy) Before(all Spent, failed error, u Unknown) (why string) {
	switch why = p.Limits.Used(all); {
	case failed != nil:
		why = failed.Error()
	case why == "" && p.Limits.IsSet() && !u.IsCapped && u.Most > 0 && u.InARow >= u.Most:
		why = fmt.Sprintf("what %s in a row cost is unknown, so your budget can't be enforced", format.Counted(u.InARow, "run"))
	}
	return why
}

// After tells of the first run whose cost is unknown, where something limits that; "" is nothing.
func (p *Policy) After(iteration int, u Unknown) (text string) {
	if u.InARow == 0 || u.InAll != 1 || !u.IsCapped && !p.Limits.IsSet() {
		return ""
	}
	against := "the cost cap"
	if !u.IsCapped {
		against = "your budget"
	}
	text = fmt.Sprintf("what iteration %d has cost is unknown, so it doesn't count against %s", iteration, against)
	if u.Most > 0 {
		text += fmt.Sprintf("; after %s in a row the loop pauses (--max-unknown-cost-runs)", format.Counted(u.Most, "such run"))
	}
	return text
}
