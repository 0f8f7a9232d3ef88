package engine

import (
	"sync"

	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// guarded is a loop's progress and its lock. Only its own methods use them.
type guarded struct {
	mu   sync.Mutex
	held progress.State
}

// change lets f change the loop's progress, alone. f must be short: it doesn't
// block, emit, or look again.
func (g *guarded) change(f func(*progress.State)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f(&g.held)
}

// look is change for an f that only reads.
func (g *guarded) look(f func(*progress.State)) { g.change(f) }

// now is a copy of the loop's progress. What its slices and maps hold isn't copied: who needs that of
// what is changed in its place looks.
func (g *guarded) now() *progress.State {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.held
	return &now
}

// follow is change for an agent's event. There may be millions of them, so it
// does without a function value.
func (g *guarded) follow(e stream.Event) progress.Consequences {
	g.mu.Lock()
	c := g.held.Follow(e)
	g.mu.Unlock()
	return c
}
