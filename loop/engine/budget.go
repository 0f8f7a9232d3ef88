package engine

import (
	"fmt"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/budget"
	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// countBudget takes down what the loop has spent, and looks at what others have. It is done elsewhere.
func (l *spending) countBudget() (spent budget.Spent, err error) {
	var limits budget.Limits
	var cost float64
	l.inbox.Do(func() {
		now := l.state.Now()
		limits, cost = now.Purse.Limits, now.Cost().USD
	})
	if !limits.IsSet() {
		return spent, nil
	}
	spent, err = l.cfg.Budget.Count(l.id, cost, time.Now())
	l.inbox.Do(func() {
		var isOver bool
		l.state.Change(func(p *progress.State) {
			if err == nil {
				p.Purse.Left, p.Purse.Counted = limits.Left(spent), cost
			}
			isOver = p.Run.GoesOn && p.OutOf(0) == judge.StopSpent
		})
		if isOver {
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
		l.inbox.Do(func() { l.state.Change(func(p *progress.State) { p.Purse.Limits = now }) })
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
		now := l.state.Now()
		why := now.Purse.Limits.Used(spent)
		switch n, limits := now.Counts.UnknownCosts, now.Status.Limits; {
		case err != nil:
			why = err.Error()
		case why == "" && now.Purse.Limits.IsSet() && limits.MaxCostUSD == 0 && limits.MaxUnknown > 0 && n >= limits.MaxUnknown:
			why = fmt.Sprintf("what %s in a row cost is unknown, so your budget can't be enforced", tell.Counted(n, "run"))
		}
		if why == "" || now.Wanted.Cause != "" || now.Wanted.LastRun {
			return
		}
		l.events.emit(loop.Warning{Message: loop.OneLine(why)})
		l.waits.pauseFor(loop.PauseBudget, func(s *loopstate.State) { s.OverBudget = why }, func(p *progress.State) { p.Purse.Why = why })
		if !l.awaitMoney(func(p *progress.State) { p.Purse.Why, p.Counts.UnknownCosts = "", 0 }) {
			return
		}
	}
}

// awaitMoney is awaitGoOn, but for a loop that another program lets go on.
func (l *spending) awaitMoney(then func(*progress.State)) (ok bool) {
	return !l.cfg.Once && l.waits.awaitGoOn(then)
}

// minUnknownCost tells of the first run under a cost cap that doesn't say what it has cost,
// and pauses the loop after too many in a row. Who lets it go on wants that: the count begins anew.
func (l *spending) minUnknownCost(iteration int) {
	now := l.state.Now()
	n, limits := now.Counts.UnknownCosts, now.Status.Limits
	if limits.MaxCostUSD == 0 && !now.Purse.Limits.IsSet() || n == 0 {
		return
	}
	if now.Base.Unknown == 1 {
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
	if !loop.IsUnpriced(n, limits) || now.Wanted.Cause != "" || now.Wanted.LastRun {
		return
	}
	l.waits.pauseFor(loop.PauseUnknownCost, func(*loopstate.State) {}, func(p *progress.State) { p.Unpriced = n })
	l.awaitMoney(func(p *progress.State) { p.Unpriced, p.Counts.UnknownCosts = 0, 0 })
}

// awaitCredits pauses the loop until its user has seen to the account, as nothing else ends that.
func (l *spending) awaitCredits(r judge.Report) {
	if now := l.state.Now(); now.Wanted.Cause != "" || now.Wanted.LastRun {
		return
	}
	why := loop.OneLine("the account of " + l.cfg.Backend.Name + " has no credits left, so add some, then resume the loop: " + r.Problem)
	l.waits.pauseFor(loop.PauseQuota, func(s *loopstate.State) { s.OverBudget = why }, func(p *progress.State) { p.Purse.Why = why })
	l.awaitMoney(func(p *progress.State) { p.Purse.Why = "" })
}
