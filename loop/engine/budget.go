package engine

import (
	"fmt"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/budget"
	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// countBudget takes down what the loop has spent, and looks at what others have. It is done elsewhere.
func (l *spending) countBudget() (spent budget.Spent, err error) {
	var limits budget.Limits
	var cost float64
	l.inbox.Do(func() {
		limits, cost = l.state.Purse.Limits, l.state.Cost().USD
	})
	if !limits.IsSet() {
		return spent, nil
	}
	spent, err = l.cfg.Budget.Count(l.id, cost, time.Now())
	l.inbox.Do(func() {
		if err == nil {
			l.state.Purse.Left, l.state.Purse.Counted = limits.Left(spent), cost
		}
		if l.state.Run.GoesOn && l.state.OutOf(0) == judge.StopSpent {
			l.ending.poke()
		}
	})
	return spent, err
}

// readBudget takes over what the user's file says of the budget by now. It is done elsewhere.
func (l *spending) readBudget() {
	if l.host.Budget == nil {
		return
	}
	if now, err := l.host.Budget(); err == nil { // else it is being written
		l.inbox.Do(func() { l.state.Purse.Limits = now })
	}
}

// awaitBudget pauses the loop while the user's budget is used, can't be told, or can't be kept as
// nobody knows what runs cost.
func (l *spending) awaitBudget() {
	for {
		var spent budget.Spent
		var err error
		l.inbox.Elsewhere(func() {
			l.readBudget()
			spent, err = l.countBudget()
		})
		why := l.state.Purse.Limits.Used(spent)
		switch n, limits := l.state.Counts.UnknownCosts, l.state.Status.Limits; {
		case err != nil:
			why = err.Error()
		case why == "" && l.state.Purse.Limits.IsSet() && limits.MaxCostUSD == 0 && limits.MaxUnknown > 0 && n >= limits.MaxUnknown:
			why = fmt.Sprintf("what %s in a row cost is unknown, so your budget can't be enforced", tell.Counted(n, "run"))
		}
		if why == "" || l.state.Wanted.IsEnd() {
			return
		}
		l.events.emit(loop.Warning{Message: loop.OneLine(why)})
		l.waits.pauseFor(loop.PauseBudget, func(s *loopstate.State) { s.OverBudget = why }, func() { l.state.Purse.Why = why })
		if !l.awaitMoney(func() { l.state.Purse.Why, l.state.Counts.UnknownCosts = "", 0 }) {
			return
		}
	}
}

// awaitMoney is awaitGoOn, but for a loop that another program lets go on.
func (l *spending) awaitMoney(then func()) (ok bool) {
	return !l.cfg.Once && l.waits.awaitGoOn(then)
}

// minUnknownCost tells of the first run under a cost cap that doesn't say what it has cost,
// and pauses the loop after too many in a row. Who lets it go on wants that: the count begins anew.
func (l *spending) minUnknownCost(iteration int) {
	n, limits := l.state.Counts.UnknownCosts, l.state.Status.Limits
	if limits.MaxCostUSD == 0 && !l.state.Purse.Limits.IsSet() || n == 0 {
		return
	}
	if l.state.Base.Unknown == 1 {
		against := "the cost cap"
		if limits.MaxCostUSD == 0 {
			against = "your budget"
		}
		text := fmt.Sprintf("what iteration %d has cost is unknown, so it doesn't count against %s", iteration, against)
		if limits.MaxUnknown > 0 {
			text += fmt.Sprintf("; after %s in a row the loop pauses (--max-unknown-cost-runs)", tell.Counted(limits.MaxUnknown, "such run"))
		}
		l.events.emit(loop.Warning{Message: text})
	}
	if !loop.IsUnpriced(n, limits) || l.state.Wanted.IsEnd() {
		return
	}
	l.waits.pauseFor(loop.PauseUnknownCost, func(*loopstate.State) {}, func() { l.state.Unpriced = n })
	l.awaitMoney(func() { l.state.Unpriced, l.state.Counts.UnknownCosts = 0, 0 })
}

// awaitCredits pauses the loop until its user has seen to the account, as nothing else ends that.
func (l *spending) awaitCredits(r judge.Report) {
	if l.state.Wanted.IsEnd() {
		return
	}
	why := loop.OneLine("the account of " + l.cfg.Backend.Name + " has no credits left, so add some, then resume the loop: " + r.Problem)
	l.waits.pauseFor(loop.PauseQuota, func(s *loopstate.State) { s.OverBudget = why }, func() { l.state.Purse.Why = why })
	l.awaitMoney(func() { l.state.Purse.Why = "" })
}
