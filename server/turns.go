package server

import (
	"github.com/ralph-lsp/ralph-lsp/server/turns"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

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

// inTurn does something behind the commands that are under way: at once where
// there are none, else aside of the read loop.
func (m *manager) inTurn(do func()) {
	t := m.turns.Take("", true)
	if !t.Waits() {
		do()
		t.End()
		return
	}
	m.Work.Go(func() {
		defer t.End()
		if t.Await(m.Ctx) == nil {
			do()
		}
	})
}

// takeTurn gives a command its turn, while it is still on the read loop; nil
// to one that has no place in the order.
func (m *manager) takeTurn(id string, t task) *turns.Turn {
	order, ok := inOrder[id]
	if !ok {
		return nil
	}
	if loopID := m.afar.Find(t.target); loopID != "" {
		return m.turns.Take("elsewhere "+loopID, order.holds)
	}
	return m.turns.Take(order.lane+m.workspace.Aim(t.target), order.holds)
}
