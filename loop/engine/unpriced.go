package engine

import (
	"fmt"

	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// minUnknownCost tells of the first run under a cost cap that doesn't say what it has cost,
// and pauses the loop after too many in a row. Who lets it go on wants that: the count begins anew.
func (l *books) minUnknownCost(iteration int) {
	var now progress.State
	l.look(func(p *progress.State) { now = *p })
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
		l.emit(loop.Warning{Message: text})
	}
	if !loop.IsUnpriced(n, limits) || now.Cause != "" || now.LastRun {
		return
	}
	l.pauseFor(loop.PauseUnknownCost, func(*loopstate.State) {}, func(p *progress.State) { p.Unpriced = n })
	if l.cfg.Once || l.departure.wanted.Load() { // whose program lets it go on
		return
	}
	l.awaitGoOn(func(p *progress.State) { p.Unpriced, p.Counts.UnknownCosts = 0, 0 })
}
