// Package till counts what loops cost that the agents of a loop start.
//
// A till is a folder in the temporary folder of a loop's agents. A loop that one of them starts finds
// there, also behind walls, what is left of the money, and puts in what it spends itself: a Purse each.
// A Till is the side of the loop around them, an Outer that of one which an agent started.
//
// An agent might write there what it likes: its loop only gets less.
package till

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/budget"
)

const (
	// Name is that of a till in a temporary folder, Left that of the file that says what is left.
	Name = "till"
	Left = "left"
	// maxPurses bounds how many loops of agents are counted.
	maxPurses = 1000
)

// Till has those of a loop's own agents.
type Till struct {
	mu   sync.Mutex // one counts, alone
	dirs []string
	seen map[string]float64 // by file; what is there only grows
	left map[string]float64 // what each till says; none: no limit
}

// Open makes the till of agents with a temporary folder, "" where that can't be.
func (t *Till) Open(tempDir string) string {
	dir := filepath.Join(tempDir, Name)
	if os.Mkdir(dir, 0o700) != nil {
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dirs = append(t.dirs, dir)
	return dir
}

// Count has take count what was spent since, and says what it returns as left, +Inf for no limit.
func (t *Till) Count(take func(more float64) (left float64)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	left := take(t.more())
	for _, dir := range t.dirs {
		var purse budget.Purse
		if !math.IsInf(left, 1) {
			purse.USD = &left
		}
		was, isSaid := t.left[dir]
		if isSaid && purse.USD != nil && was == left || !isSaid && purse.USD == nil || !budget.WritePurse(filepath.Join(dir, Left), purse) {
			continue
		}
		if t.left == nil {
			t.left = map[string]float64{}
		}
		if delete(t.left, dir); purse.USD != nil {
			t.left[dir] = left
		}
	}
}

// more is what the purses have more than when they were looked at last.
func (t *Till) more() (more float64) {
	for _, dir := range t.dirs {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries[:min(len(entries), maxPurses)] {
			file := filepath.Join(dir, e.Name())
			usd := budget.ReadPurse(file).USD
			if e.Name() == Left || !strings.HasSuffix(file, ".json") || usd == nil || *usd <= t.seen[file] || math.IsInf(*usd, 0) {
				continue
			}
			if t.seen == nil {
				t.seen = map[string]float64{}
			}
			more += *usd - t.seen[file]
			t.seen[file] = *usd
		}
	}
	return more
}

// Outer is the loop around one that an agent started. Its zero value: there is none.
type Outer struct {
	mu   sync.Mutex
	file string  // where this one says what it has spent
	from float64 // what it had spent before
	told float64
}

// Join looks for the loop around one with an id, whose agents have a temporary folder. left is what
// that one has left; nil: it has no limit.
func (o *Outer) Join(tempDir, id string) (left *float64, ok bool) {
	dir := filepath.Join(tempDir, Name)
	if _, err := os.Stat(dir); tempDir == "" || err != nil {
		return nil, false
	}
	o.file = filepath.Join(dir, fmt.Sprintf("%s-%d.json", id, time.Now().UnixNano()))
	return budget.ReadPurse(filepath.Join(dir, Left)).USD, true
}

// Begin says what was spent before.
func (o *Outer) Begin(usd float64) { o.from = usd }

// Tell says to the loop around this one what this one has spent in all.
func (o *Outer) Tell(usd float64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	spent := usd - o.from
	if o.file != "" && spent > o.told && budget.WritePurse(o.file, budget.Purse{USD: &spent}) {
		o.told = spent
	}
}
