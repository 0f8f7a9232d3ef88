package loop

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"ralph-lsp/sandbox"
)

// refusals are what the walls kept the loop's agents from doing. Each is told once.
type refusals struct {
	mu    sync.Mutex
	told  []sandbox.Refusal
	fresh []sandbox.Refusal
	more  int // that nobody is told of any more
}

// Bounds of what a user is told of refusals.
const (
	maxRefused     = 200 // in a loop
	maxRefusedText = 5   // in one warning
)

// add takes down what is new of it.
func (r *refusals) add(found []sandbox.Refusal) {
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

// take says what was refused since the last time.
func (r *refusals) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	fresh, more := r.fresh, r.more
	r.fresh, r.more = nil, 0
	if len(fresh) == 0 {
		return nil
	}
	var said []string
	for i, one := range fresh {
		if i == maxRefusedText {
			more += len(fresh) - i
			break
		}
		said = append(said, one.String())
	}
	text := "the sandbox refused: " + strings.Join(said, ", ")
	if more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return []string{text + " (to allow it, see [sandbox] write in docs/SANDBOX.md)"}
}
