package engine

import (
	"fmt"

	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// bookUnknown adds a run whose cost may be unknown.
func (p *progress) bookUnknown(isUnknown bool) {
	if isUnknown {
		p.base.Unknown++
		p.status.UnknownCosts = p.base.Unknown
	}
}

// minUnknownCost tells of the first run under a cost cap that doesn't say what it has cost,
// and pauses the loop after too many in a row. Who lets it go on wants that: the count begins anew.
func (l *books) minUnknownCost(iteration int) {
	var now progress
	l.look(func(p *progress) { now = *p })
	n, limits := now.counts.UnknownCosts, now.status.Limits
	if limits.MaxCostUSD == 0 && !now.purse.limits.IsSet() || n == 0 {
		return
	}
	if now.base.Unknown == 1 {
		against := "the cost cap"
		if limits.MaxCostUSD == 0 {
			against = "your budget"
		}
		text := fmt.Sprintf("what iteration %d has cost is unknown, so it doesn't count against %s", iteration, against)
		if limits.MaxUnknown > 0 {
			text += fmt.Sprintf("; after %s in a row the loop pauses (--max-unknown-cost-runs)", tell.Counted(limits.MaxUnknown, "such run"))
		}
		l.emit(loop.Warning{Message: text})
	}
	if !loop.IsUnpriced(n, limits) || now.cause != "" || now.lastRun {
		return
	}
	l.pauseFor(loop.PauseUnknownCost, func(*loopstate.State) {}, func(p *progress) { p.unpriced = n })
	if l.cfg.Once || l.departure.wanted.Load() { // whose program lets it go on
		return
	}
	l.awaitGoOn(func(p *progress) { p.unpriced, p.counts.UnknownCosts = 0, 0 })
}
