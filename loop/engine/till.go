package engine

import (
	"errors"

	"github.com/ralph-lsp/ralph-lsp/internal/budget"
	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
)

// countNested adds what loops of the agents' have spent since, and says what is left.
func (l *books) countNested() {
	var isMore, isOver bool
	l.till.Count(func(more float64) (left float64) {
		isMore = more > 0
		l.change(func(p *progress.State) {
			p.Base.Cost.USD, p.Base.Cost.Known = p.Base.Cost.USD+more, p.Base.Cost.Known || isMore
			isOver, left = p.OverCap(), p.Left()
		})
		return left
	})
	if isMore {
		l.noteSpending()
	}
	if isMore && isOver {
		l.poke()
	}
}

// joinOuter makes a loop that an agent starts one of the loop around it: it may spend what that
// one has left.
func (l *books) joinOuter() error {
	left, ok := l.outer.Join(caller.Self().TempDir(), l.id)
	if !ok {
		return nil
	}
	l.cfg.Budget = budget.Book{} // that one counts this one's cost as its own
	if left == nil {
		return nil
	}
	if *left <= 0 {
		return errors.New("the loop around this one has nothing left to spend, so nothing is started")
	}
	most, given := *left, &l.cfg.Limits.MaxCostUSD
	if l.cfg.Continue {
		s, _ := l.store.Load()
		most += s.Cost.USD
		now := s.Limits().MaxCostUSD
		if l.cfg.Change.MaxCostUSD != nil {
			now = *l.cfg.Change.MaxCostUSD
		}
		given = &now
	}
	if *given > 0 && *given <= most {
		return nil
	}
	l.cfg.Limits.MaxCostUSD = most
	if l.cfg.Continue {
		l.cfg.Change.Given = limits.Given{MaxCostUSD: &most}.Or(l.cfg.Change.Given)
	}
	l.cfg.Warnings = append(l.cfg.Warnings, "the loop around this one has "+tell.USD(*left)+" left, so that is all that this one may spend")
	return nil
}

// tellOuter says to the loop around this one what this one has spent.
func (l *books) tellOuter() { l.outer.Tell(l.Status().Cost.USD) }
