package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
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
	maxPurse  = 1 << 10 // bytes of a file
)

// purse is what a file of a till says: how many dollars; nil: no limit.
type purse struct {
	USD *float64 `json:"usd"`
}

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
			usd := readPurse(file).USD
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
	var left purse
	var isOver bool
	l.change(func(p *progress) {
		p.base.cost.USD, p.base.cost.Known = p.base.cost.USD+more, p.base.cost.Known || more > 0
		p.status.Cost = p.base.cost.Plus(p.current.Cost)
		isOver = p.overCap()
		if limit := p.status.Limits.MaxCostUSD; limit > 0 {
			left.USD = new(max(limit-p.status.Cost.USD, 0))
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
func (t *tills) say(left purse) {
	for _, dir := range t.dirs {
		was, isSaid := t.left[dir]
		if isSaid && left.USD != nil && was == *left.USD || !isSaid && left.USD == nil || !writePurse(filepath.Join(dir, leftName), left) {
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
	left := readPurse(filepath.Join(dir, leftName)).USD
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
	if spent > l.outer.told && writePurse(l.outer.file, purse{&spent}) {
		l.outer.told = spent
	}
}

// readPurse reads a file of a till, as far as it is one: an agent might put a pipe or a link there.
func readPurse(name string) (p purse) {
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return p
	}
	file, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may be another by now
	if err != nil {
		return p
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxPurse+1))
	if err != nil || len(data) > maxPurse || json.Unmarshal(data, &p) != nil {
		return purse{}
	}
	return p
}

// writePurse writes a file of a till, all of it at once, and into nothing that is there already.
func writePurse(name string, p purse) bool {
	data, err := json.Marshal(p)
	if err != nil {
		return false
	}
	file, err := os.CreateTemp(filepath.Dir(name), ".new-")
	if err != nil {
		return false
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		os.Remove(file.Name())
	}
	return err == nil
}
