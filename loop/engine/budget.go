package engine

import (
	"fmt"
	"math"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/budget"
	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// pursed is the user's budget as the loop saw it last.
type pursed struct {
	limits  budget.Limits
	left    float64 // for all loops, +Inf without limits
	counted float64 // what this loop had spent then
	why     string  // the loop pauses, in words; "" when it doesn't
}

// left is what the loop may still spend, of its own cap and of the budget.
func (p *progress) left() float64 {
	left := math.Inf(1)
	if limit := p.status.Limits.MaxCostUSD; limit > 0 {
		left = limit - p.status.Cost.USD
	}
	return max(min(left, p.leftOfBudget()), 0)
}

func (p *progress) leftOfBudget() float64 {
	if !p.purse.limits.IsSet() {
		return math.Inf(1)
	}
	return p.purse.left - (p.status.Cost.USD - p.purse.counted)
}

// outOf says which limit of money is reached: StopMaxCost, stopSpent, or "".
func (p *progress) outOf() loop.StopReason {
	switch limit := p.status.Limits.MaxCostUSD; {
	case !p.status.Cost.Known:
		return ""
	case limit > 0 && p.status.Cost.USD >= limit:
		return loop.StopMaxCost
	case p.leftOfBudget() <= 0:
		return judge.StopSpent
	}
	return ""
}

// countBudget takes down what the loop has spent, and looks at what others have.
func (l *books) countBudget() (budget.Spent, error) {
	var limits budget.Limits
	var cost float64
	l.look(func(p *progress) { limits, cost = p.purse.limits, p.status.Cost.USD })
	if !limits.IsSet() {
		return budget.Spent{}, nil
	}
	spent, err := l.cfg.Budget.Count(l.id, cost, time.Now())
	var isOver bool
	l.change(func(p *progress) {
		if err == nil {
			p.purse.left, p.purse.counted = limits.Left(spent), cost
		}
		isOver = p.goesOn && p.outOf() == judge.StopSpent
	})
	if isOver {
		l.poke()
	}
	return spent, err
}

// readBudget takes over what the user's file says of the budget by now.
func (l *books) readBudget() {
	if l.cfg.Budget.Now == nil {
		return
	}
	if now, err := l.cfg.Budget.Now(); err == nil { // else it is being written
		l.change(func(p *progress) { p.purse.limits = now })
	}
}

// awaitBudget pauses the loop while the user's budget is used, can't be told, or can't be kept as
// nobody knows what runs cost.
func (l *books) awaitBudget() {
	for {
		l.readBudget()
		spent, err := l.countBudget()
		var now progress
		l.look(func(p *progress) { now = *p })
		why := now.purse.limits.Used(spent)
		switch n, limits := now.counts.UnknownCosts, now.status.Limits; {
		case err != nil:
			why = err.Error()
		case why == "" && now.purse.limits.IsSet() && limits.MaxCostUSD == 0 && limits.MaxUnknown > 0 && n >= limits.MaxUnknown:
			why = fmt.Sprintf("what %s in a row cost is unknown, so your budget can't be enforced", tell.Counted(n, "run"))
		}
		if why == "" || now.cause != "" || now.lastRun {
			return
		}
		l.emit(loop.Warning{Message: loop.OneLine(why)})
		l.pauseFor(loop.PauseBudget, func(s *loopstate.State) { s.OverBudget = why }, func(p *progress) { p.purse.why = why })
		if l.cfg.Once || l.departure.wanted.Load() { // whose program lets it go on
			return
		}
		if !l.awaitGoOn(func(p *progress) { p.purse.why, p.counts.UnknownCosts = "", 0 }) {
			return // it is to end
		}
	}
}
