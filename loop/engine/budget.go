package engine

import (
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/budget"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// countBudget takes down what the loop has spent, and looks at what others have. It is done elsewhere.
func (l *spending) countBudget() (spent budget.Spent, err error) {
	var limits budget.Limits
	var cost float64
	l.inbox.Do(func() {
		limits, cost = l.state.Budget.Limits, l.state.Cost().USD
	})
	if !limits.IsSet() {
		return spent, nil
	}
	spent, err = l.cfg.Budget.Count(l.id, cost, time.Now())
	l.inbox.Do(func() {
		if err == nil {
			l.state.Budget.Count(spent, cost)
		}
		if l.state.Run.GoesOn && l.state.OutOf(0) == judge.StopSpent {
			l.ending.wake()
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
		l.inbox.Do(func() { l.state.Budget.Limits = now })
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
		why := l.state.Budget.Before(spent, err, l.unknown())
		if why == "" || l.state.Wanted.IsEnd() {
			return
		}
		l.events.emit(loop.Warning{Message: loop.OneLine(why)})
		l.waits.pauseFor(loop.PauseBudget, func(s *loopstate.State) { s.OverBudget = why }, func() { l.state.Budget.Why = why })
		if !l.awaitMoney(func() { l.state.Budget.Why, l.state.Counts.UnknownCosts = "", 0 }) {
			return
		}
	}
}

// awaitMoney is awaitGoOn, but for a loop that another program lets go on.
func (l *spending) awaitMoney(then func()) (ok bool) {
	return !l.cfg.Once && l.waits.awaitGoOn(then)
}

// unknown is of how many runs nobody knows what they have cost.
func (l *spending) unknown() budget.Unknown {
	limits := l.state.Status.Limits
	return budget.Unknown{
		InARow: l.state.Counts.UnknownCosts, InAll: l.state.SpentBefore.Unknown, Most: limits.MaxUnknown, IsCapped: limits.MaxCostUSD > 0,
	}
}

// minUnknownCost warns of the first run of unknown cost, and pauses the loop after too many in a row under a cost
// cap. When the user lets it go on, the count begins anew.
func (l *spending) minUnknownCost(iteration int) {
	if text := l.state.Budget.After(iteration, l.unknown()); text != "" {
		l.events.emit(loop.Warning{Message: text})
	}
	n, limits := l.state.Counts.UnknownCosts, l.state.Status.Limits
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
	l.waits.pauseFor(loop.PauseQuota, func(s *loopstate.State) { s.OverBudget = why }, func() { l.state.Budget.Why = why })
	l.awaitMoney(func() { l.state.Budget.Why = "" })
}
