// Tree is what macOS has in place of a reaper. It stands in a file of all systems, as its test brings a table of its own
// and runs everywhere; Proc, KillLimit and Survivors are for Linux as well.

package reaper

import (
	"fmt"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Proc is one process, told from a later one with the same number by its start.
type Proc struct {
	PID   int
	Start string // on Linux in clock ticks since boot, else in milliseconds since 1970
}

// Entry is a process as a table has it.
type Entry struct {
	Proc
	Parent, Group int
}

// Table is what a system without Linux's ways knows of processes.
type Table interface {
	Processes() []Entry                   // this user's that live
	Bears(p Proc, mark string) bool       // whether it has that in its environment, as far as can be told
	Signal(p Proc, signal syscall.Signal) // to exactly that one
}

// Tree is an agent with what was seen of what it started: children of those that are known,
// members of their groups, and who bears the mark. Who was seen once is remembered, also when
// its parent is gone.
type Tree struct {
	Table Table
	Mark  string
	OnNew func(Proc) // may be nil

	mu    sync.Mutex
	known map[Proc]bool
}

// Add makes a process known.
func (t *Tree) Add(p Proc) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(p)
}

func (t *Tree) add(p Proc) {
	if t.known == nil {
		t.known = map[Proc]bool{}
	}
	t.known[p] = true
	if t.OnNew != nil {
		t.OnNew(p)
	}
}

// Find lists those that live. The mark is looked for where thorough: that takes longer.
func (t *Tree) Find(thorough bool) (alive []Proc) {
	t.mu.Lock()
	defer t.mu.Unlock()
	entries := t.Table.Processes()
	now := map[int]Proc{}
	for _, e := range entries {
		now[e.PID] = e.Proc
		if thorough && !t.known[e.Proc] && t.Mark != "" && t.Table.Bears(e.Proc, t.Mark) {
			t.add(e.Proc)
		}
	}
	groups := func(group int) bool { // led by a known one, which may be gone, but not by who has its number now
		for p := range t.known {
			if living, ok := now[group]; p.PID == group && (!ok || living == p) {
				return true
			}
		}
		return false
	}
	for grown := true; grown; {
		grown = false
		for _, e := range entries {
			if !t.known[e.Proc] && (t.known[now[e.Parent]] || groups(e.Group)) {
				t.add(e.Proc)
				grown = true
			}
		}
	}
	for _, e := range entries {
		if t.known[e.Proc] {
			alive = append(alive, e.Proc)
		}
	}
	return alive
}

// End ends them: SIGTERM, and SIGKILL after the grace. It returns how many lived.
func (t *Tree) End(grace time.Duration) (found int, err error) {
	alive := t.Find(true)
	found = len(alive)
	for _, p := range alive {
		t.Table.Signal(p, syscall.SIGTERM)
	}
	for begin := time.Now(); len(alive) > 0; alive = t.Find(true) {
		if time.Since(begin) > grace {
			for _, p := range alive {
				t.Table.Signal(p, syscall.SIGKILL)
			}
		}
		if time.Since(begin) > grace+KillLimit {
			var pids []int
			for _, p := range alive {
				pids = append(pids, p.PID)
			}
			return found, Survivors(pids)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return found, nil
}

// KillLimit bounds the fight against a process that forks faster than it can
// be killed, or that the system holds.
const KillLimit = 3 * time.Second

// Survivors says who is left; nil for nobody.
func Survivors(pids []int) error {
	if len(pids) == 0 {
		return nil
	}
	slices.Sort(pids)
	return fmt.Errorf("processes %v could not be ended", pids)
}
