package server

import (
	"context"
	"slices"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/wire"
)

// turns keep the commands about a folder in the order in which they came,
// though each runs aside of the read loop: a cancel right behind a start must
// find its loop. Folders don't wait for each other.
type turns struct {
	mu   sync.Mutex
	open []*turn // of commands that others wait for, the oldest first
}

// turn is a command's place in the order.
type turn struct {
	turns  *turns
	folder string          // or another lane; "": whichever has the loop
	before []chan struct{} // closed when those before it are done
	done   chan struct{}
}

// order says whether a command waits for those before it, and those behind it
// for it: of its lane, or of all that are about its folder. A cancel may take as
// long as another process likes. What git does may take long, so only what else
// is about snapshots waits for that.
type order struct {
	holds bool
	lane  string
}

var inOrder = map[string]order{
	wire.CommandStart: {holds: true}, wire.CommandResume: {holds: true}, wire.CommandPause: {holds: true}, wire.CommandNext: {holds: true}, wire.CommandDetach: {holds: true}, wire.CommandUpdate: {holds: true}, wire.CommandSteer: {holds: true}, wire.CommandAnswer: {holds: true},
	wire.CommandCancel: {},
	wire.CommandUndo:   {true, "snapshots "}, wire.CommandRedo: {true, "snapshots "}, wire.CommandKeep: {true, "snapshots "},
	wire.CommandLand: {true, "landing "},
}

// take gives the next turn to a command about a folder.
func (t *turns) take(folder string, holds bool) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := &turn{turns: t, folder: folder, done: make(chan struct{})}
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

// await waits for the commands before this one, or for ctx.
func (t *turn) await(ctx context.Context) error {
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

// end lets those behind go on: the command is done, or it asks the user, who
// may take long. Further calls do nothing.
func (t *turn) end() {
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

// inTurn does something behind the commands that are under way: at once where
// there are none, else aside of the read loop.
func (m *manager) inTurn(do func()) {
	t := m.turns.take("", true)
	if len(t.before) == 0 {
		do()
		t.end()
		return
	}
	m.wg.Go(func() {
		defer t.end()
		if t.await(m.ctx) == nil {
			do()
		}
	})
}

// turnKey is the key of a command's turn in its context.
type turnKey struct{}

// turnOf returns the turn of the command that a context is for, nil for none.
func turnOf(ctx context.Context) *turn {
	t, _ := ctx.Value(turnKey{}).(*turn)
	return t
}

// takeTurn gives a command its turn, while it is still on the read loop; nil
// to one that has no place in the order.
func (m *manager) takeTurn(id string, t task) *turn {
	order, ok := inOrder[id]
	if !ok {
		return nil
	}
	if loopID := m.afar.find(t.target); loopID != "" {
		return m.turns.take("elsewhere "+loopID, order.holds)
	}
	return m.turns.take(order.lane+m.loops.aim(t.target), order.holds)
}
