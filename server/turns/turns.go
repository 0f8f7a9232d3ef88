// Package turns keeps what is asked for in order.
package turns

import (
	"context"
	"slices"
	"sync"
)

// Turns keep the commands about a folder in the order in which they came,
// though each runs aside of the read loop: a cancel right behind a start must
// find its loop. Folders don't wait for each other.
type Turns struct {
	mu   sync.Mutex
	open []*Turn // of commands that others wait for, the oldest first
}

// Turn is a command's place in the order.
type Turn struct {
	turns  *Turns
	folder string          // or another lane; "": whichever has the loop
	before []chan struct{} // closed when those before it are done
	done   chan struct{}
}

// Take gives the next turn to a command about a folder.
func (t *Turns) Take(folder string, holds bool) *Turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := &Turn{turns: t, folder: folder, done: make(chan struct{})}
	for _, other := range t.open {
		if folder == "" || other.folder == "" || other.folder == folder {
			next.before = append(next.before, other.done)
		}
	}
	if holds {
		t.open = append(t.open, next)
	}
	return next
}

// Waits says whether there were commands before this one.
func (t *Turn) Waits() bool { return len(t.before) > 0 }

// Await waits for the commands before this one, or for ctx.
func (t *Turn) Await(ctx context.Context) error {
	if t == nil {
		return nil
	}
	for _, done := range t.before {
		select {
		case <-done:
			continue
		default:
		}
		select {
		case <-done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// End lets later commands go on: the command is done, or it asks the user, which may take long. Further calls do
// nothing.
func (t *Turn) End() {
	if t == nil {
		return
	}
	t.turns.mu.Lock()
	defer t.turns.mu.Unlock()
	if i := slices.Index(t.turns.open, t); i >= 0 {
		t.turns.open = slices.Delete(t.turns.open, i, i+1)
		close(t.done)
	}
}

// turnKey is the key of a command's turn in its context.
type turnKey struct{}

// With returns the context of a command that has a turn.
func With(ctx context.Context, t *Turn) context.Context { return context.WithValue(ctx, turnKey{}, t) }

// Of returns the turn of the command that a context is for, nil for none.
func Of(ctx context.Context) *Turn {
	t, _ := ctx.Value(turnKey{}).(*Turn)
	return t
}
