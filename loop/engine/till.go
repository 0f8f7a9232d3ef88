package engine

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/budget"
	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// A till is a folder in the temporary folder of a loop's agents. A loop that one of them starts
// finds there, also behind walls, what is left of the money, and puts in what it spends itself.
const (
	tillName = "till"
	leftName = "left"
	// maxPurses bounds how many loops of agents are counted.
	maxPurses = 1000
)

// tills are those of a loop's own agents.
type tills struct {
	dirs []string
	seen map[string]float64 // by file; what is there only grows
	left map[string]float64 // what each till says; none: no limit
}

// outer is the loop around this one.
type outer struct {
	file string  // where this one says what it has spent; "": there is none
	from float64 // what it had spent before
	told float64
}

// openTill makes the till of agents that begin.
func (l *books) openTill(scope *backends.Scope) {
	dir := filepath.Join(scope.TempDir, tillName)
	if os.Mkdir(dir, 0o700) != nil {
		return
	}
	scope.Shared = append(scope.Shared, dir)
	l.tillMu.Lock()
	l.tills.dirs = append(l.tills.dirs, dir)
	l.tillMu.Unlock()
}

// countNested adds what loops of the agents' have spent since, and says what is left. An agent
// might write there what it likes: it only gets less.
func (l *books) countNested() {
	l.tillMu.Lock()
	defer l.tillMu.Unlock()
	more := 0.0
	for _, dir := range l.tills.dirs {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries[:min(len(entries), maxPurses)] {
			file := filepath.Join(dir, e.Name())
			usd := budget.ReadPurse(file).USD
			if e.Name() == leftName || !strings.HasSuffix(file, ".json") || usd == nil || *usd <= l.tills.seen[file] || math.IsInf(*usd, 0) {
				continue
			}
			if l.tills.seen == nil {
				l.tills.seen = map[string]float64{}
			}
			more += *usd - l.tills.seen[file]
			l.tills.seen[file] = *usd
		}
	}
	var left budget.Purse
	var isOver bool
	l.change(func(p *progress) {
		p.base.Cost.USD, p.base.Cost.Known = p.base.Cost.USD+more, p.base.Cost.Known || more > 0
		p.status.Cost = p.base.Cost.Plus(p.current.Cost)
		isOver = p.overCap()
		if usd := p.left(); !math.IsInf(usd, 1) {
			left.USD = &usd
		}
	})
	l.tills.say(left)
	if more > 0 {
		l.noteSpending()
	}
	if more > 0 && isOver {
		l.poke()
	}
}

// say writes down what is left where that is news.
func (t *tills) say(left budget.Purse) {
	for _, dir := range t.dirs {
		was, isSaid := t.left[dir]
		if isSaid && left.USD != nil && was == *left.USD || !isSaid && left.USD == nil || !budget.WritePurse(filepath.Join(dir, leftName), left) {
			continue
		}
		if t.left == nil {
			t.left = map[string]float64{}
		}
		if delete(t.left, dir); left.USD != nil {
			t.left[dir] = *left.USD
		}
	}
}

// joinOuter makes a loop that an agent starts one of the loop around it: it may spend what that
// one has left.
func (l *books) joinOuter() error {
	temp := caller.Self().TempDir()
	if temp == "" {
		return nil
	}
	dir := filepath.Join(temp, tillName)
	if _, err := os.Stat(dir); err != nil {
		return nil // of an older version
	}
	l.outer.file = filepath.Join(dir, fmt.Sprintf("%s-%d.json", l.id, time.Now().UnixNano()))
	l.cfg.Budget = budget.Book{} // that one counts this one's cost as its own
	left := budget.ReadPurse(filepath.Join(dir, leftName)).USD
	if left == nil {
		return nil
	}
	if *left <= 0 {
		return errors.New("the loop around this one has nothing left to spend, so nothing is started")
	}
	most, given := *left, &l.cfg.Limits.MaxCostUSD
	if l.cfg.Continue {
		var s loopstate.State
		if s, _ = l.store.Load(); s.CostUSD != nil {
			most += *s.CostUSD
		}
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
func (l *books) tellOuter() {
	if l.outer.file == "" {
		return
	}
	l.tillMu.Lock()
	defer l.tillMu.Unlock()
	spent := l.Status().Cost.USD - l.outer.from
	if spent > l.outer.told && budget.WritePurse(l.outer.file, budget.Purse{USD: &spent}) {
		l.outer.told = spent
	}
}
