package server

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/server/refusal"
	"github.com/ralph-lsp/ralph-lsp/server/rpc"
	"github.com/ralph-lsp/ralph-lsp/server/turns"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// command reads the one object that its request has.
type command func(argument []byte) (task, error)

// task is a command that was read: what it does, and which loop it is about.
type task struct {
	run      rpc.Work
	argument any
	target   wire.LoopParams
}

// table has the commands; what it lists, the server announces.
func (m *manager) table() map[string]command {
	s, c, r, v := m.starter, m.controls, m.reader, m.reviewer
	return map[string]command{
		wire.CommandStart:   with(s.start),
		wire.CommandCancel:  with(c.cancel),
		wire.CommandPause:   with(c.pause),
		wire.CommandNext:    with(c.next),
		wire.CommandDetach:  with(c.detach),
		wire.CommandResume:  with(c.resume),
		wire.CommandUpdate:  with(c.update),
		wire.CommandSteer:   with(c.steer),
		wire.CommandAnswer:  with(c.answer),
		wire.CommandOpen:    with(c.open),
		wire.CommandStatus:  with(c.list),
		wire.CommandRead:    with(r.Read),
		wire.CommandOutline: with(r.Outline),
		wire.CommandOutput:  with(r.Output),
		wire.CommandHistory: with(r.History),
		wire.CommandPrompts: with(r.Prompts),
		wire.CommandChanges: with(v.Changes),
		wire.CommandFile:    with(v.File),
		wire.CommandUndo:    with(v.Undo),
		wire.CommandRedo:    with(v.Redo),
		wire.CommandKeep:    with(v.Keep),
		wire.CommandLand:    with(v.Land),
		wire.CommandFetch:   with(m.afar.Fetch),
		wire.CommandPlan:    with(s.plan),
		wire.CommandHelp:    with(m.help),
		wire.CommandDoctor:  with(m.doctor),
		wire.CommandAgents:  with(s.listAgents),
		wire.CommandHats:    with(s.listHats),
		wire.CommandSandbox: with(s.sandbox),
	}
}

// commandIDs lists the commands for the server's capabilities.
func (m *manager) commandIDs() []string { return slices.Sorted(maps.Keys(m.commands)) }

// execute reads a command and takes its turn: what workspace/executeCommand
// asks for. The work waits for the turn.
func (m *manager) execute(id string, arguments []json.RawMessage) (rpc.Work, error) {
	read, ok := m.commands[id]
	switch {
	case !ok:
		return nil, &rpc.Error{Code: rpc.CodeInvalidParams, Message: "there is no command " + id, Data: map[string]any{"command": id}}
	case len(arguments) > 1:
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "%s takes one object, but got %d arguments", id, len(arguments))
	case len(arguments) == 0:
		arguments = []json.RawMessage{json.RawMessage("{}")}
	}
	task, err := read(arguments[0])
	if err != nil {
		m.User.Answer(nil, err)
		return nil, err
	}
	if err := m.mayAsk(id, task); err != nil {
		m.User.Answer(nil, err)
		return nil, refusal.Of(err)
	}
	own := m.takeTurn(id, task)
	return func(ctx context.Context) (any, error) {
		defer own.End()
		if err := own.Await(ctx); err != nil {
			return nil, err
		}
		result, err := task.run(turns.With(ctx, own))
		m.User.Answer(result, err)
		if err != nil {
			return nil, refusal.WithOffers(refusal.Of(err), id, arguments[0])
		}
		return result, nil
	}, nil
}

// mayAsk refuses what only a user may ask for, where who speaks to us is below a loop, and what can't be done with one elsewhere.
func (m *manager) mayAsk(id string, t task) error {
	if loopID := m.afar.Find(t.target); loopID != "" {
		return m.afar.Can(id, loopID, t.argument)
	}
	folder, _ := m.workspace.FolderPath(t.target.Folder) // what can't be told is none of the agent's own
	return caller.Check(id, folder)
}
