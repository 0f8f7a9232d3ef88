package sandbox

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Refusals are what walls kept agents from doing. Each is told once.
type Refusals struct {
	mu    sync.Mutex
	told  []Refusal
	fresh []Refusal
	more  int // that nobody is told of any more
}

// Bounds of what a user is told of refusals.
const (
	maxRefused     = 200 // in a loop
	maxRefusedText = 180 // bytes of places in one line
)

// Add takes down what is new of it.
func (r *Refusals) Add(found []Refusal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range found {
		switch {
		case slices.Contains(r.told, one):
		case len(r.told) == maxRefused:
			r.more++
		default:
			r.told, r.fresh = append(r.told, one), append(r.fresh, one)
		}
	}
}

// Take says what was refused since the last time, in a line for each kind.
func (r *Refusals) Take() (lines []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fresh, more := r.fresh, r.more
	r.fresh, r.more = nil, 0
	for _, kind := range []struct{ what, verb, why string }{
		{Write, "write", "see write below [sandbox]"},
		{Guard, "write", "no agent may, or protect below [sandbox] names it"},
		{Read, "read", "see read and hide below [sandbox]"},
		{Reach, "reach", "see hosts below [sandbox]"},
	} {
		var places []string
		left := 0
		for _, one := range fresh {
			switch {
			case one.What != kind.what:
			case len(strings.Join(places, ", "))+len(one.Path) > maxRefusedText && len(places) > 0:
				left++
			default:
				places = append(places, one.Path)
			}
		}
		if kind.what == Write {
			left += more
		}
		if len(places) == 0 {
			continue
		}
		text := "the sandbox refused to " + kind.verb + " " + strings.Join(places, ", ")
		if left > 0 {
			text += fmt.Sprintf(" and %d more", left)
		}
		lines = append(lines, text+" ("+kind.why+")")
	}
	return lines
}
