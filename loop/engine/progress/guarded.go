package progress

import (
	"sync"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Guarded is how a loop stands, and its lock. Any goroutine may use it.
type Guarded struct {
	mu   sync.Mutex
	held State
}

// Change lets f change the loop's progress, alone. f must be short: it doesn't
// block, emit, or look again.
func (g *Guarded) Change(f func(*State)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f(&g.held)
}

// Look is Change for an f that only reads.
func (g *Guarded) Look(f func(*State)) { g.Change(f) }

// Now is a copy of the loop's progress. What its slices and maps hold isn't copied: who needs that of
// what is changed in its place looks.
func (g *Guarded) Now() *State {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.held
	return &now
}

// Follow is Change for an agent's event. There may be millions of them, so it
// does without a function value.
func (g *Guarded) Follow(e stream.Event) Consequences {
	g.mu.Lock()
	c := g.held.Follow(e)
	g.mu.Unlock()
	return c
}
