package server

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/server/refusal"
	"github.com/ralph-lsp/ralph-lsp/server/rpc"
	"github.com/ralph-lsp/ralph-lsp/server/turns"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// command is how one of the wire's is carried out.
type command struct {
	read      func(argument []byte) (task, error) // the one object that its request has
	lane      lane
	notRemote string // why it can't be done with a remote loop, and what to do instead; "": it can
}

// task is a command that was read: its work, and the loop that it is about.
type task struct {
	run      rpc.Work
	argument any
	target   wire.LoopParams
}

// lane says which commands about its folder a command waits for, and which wait for it. git may take long, so only
// other commands about snapshots wait for it.
type lane string

const (
	beside      lane = ""           // none
	behind      lane = "behind"     // waits for the folder's commands, and none waits for it: another process decides how long it takes
	ofFolder    lane = "folder"     // all commands without another lane
	ofSnapshots lane = "snapshots " // its own
	ofLanding   lane = "landing "
)

func (c command) in(l lane) command           { c.lane = l; return c }
func (c command) onlyHere(why string) command { c.notRemote = why; return c }

// table has the commands; the server announces its keys.
func (m *manager) table() map[string]command {
	s, c, r, v := m.starter, m.controls, m.reader, m.reviewer
	return map[string]command{
		wire.CommandStart: with(s.start).in(ofFolder).onlyHere("a start is of this machine: name a folder of it, or put the " +
			"loop on the bus with ralph-fleet submit"),
		wire.CommandCancel:  with(c.Cancel).in(behind),
		wire.CommandPause:   with(c.Asks(service.Pause{})).in(ofFolder),
		wire.CommandNext:    with(c.Asks(service.Next{})).in(ofFolder),
		wire.CommandDetach:  with(c.Asks(service.Detach{})).in(ofFolder),
		wire.CommandResume:  with(c.resume).in(ofFolder),
		wire.CommandUpdate:  with(c.update).in(ofFolder),
		wire.CommandSteer:   with(c.Steer).in(ofFolder),
		wire.CommandAnswer:  with(c.answer).in(ofFolder),
		wire.CommandOpen:    with(c.open).onlyHere("its state file is on another machine: steer it, or change its limits with ralph.loop.update"),
		wire.CommandStatus:  with(c.list),
		wire.CommandRead:    with(r.read),
		wire.CommandOutline: with(r.outline),
		wire.CommandOutput:  with(r.output),
		wire.CommandHistory: with(r.history),
		wire.CommandPrompts: with(r.prompts),
		wire.CommandChanges: with(v.changes),
		wire.CommandFile:    with(c.File),
		wire.CommandUndo:    with(v.undo).in(ofSnapshots).onlyHere("its files are on another machine: fetch its branch, and undo there"),
		wire.CommandRedo:    with(v.redo).in(ofSnapshots).onlyHere("its files are on another machine: fetch its branch, and work there"),
		wire.CommandKeep:    with(c.Keep).in(ofSnapshots).onlyHere("its files are on another machine: fetch its branch, and review that"),
		wire.CommandLand:    with(v.land).in(ofLanding).onlyHere("its branch isn't in your repository yet: fetch it, and merge it with git"),
		wire.CommandFetch:   with(m.remote.Fetch),
		wire.CommandPlan:    with(s.plan),
		wire.CommandMark:    with(func(ctx context.Context, p wire.MarkParams) (any, error) { return m.Docs.Mark(ctx, p) }),
		wire.CommandHelp:    with(m.help),
		wire.CommandDoctor:  with(c.ofFolder(m.doctor)),
		wire.CommandAgents:  with(c.ofFolder(func(ctx context.Context, folder string) any { return c.Service.Agents(ctx, folder) })),
		wire.CommandHats:    with(c.ofFolder(func(_ context.Context, folder string) any { return c.Service.Hats(folder) })),
		wire.CommandSandbox: with(s.sandbox),
		wire.CommandTool:    with(m.tool),
	}
}

// execute reads a command (workspace/executeCommand) and takes its turn. The work waits for the turn.
func (m *manager) execute(id string, arguments []json.RawMessage) (rpc.Work, error) {
	c, ok := m.commands[id]
	switch {
	case !ok:
		return nil, &rpc.Error{Code: rpc.CodeInvalidParams, Message: "there is no command " + id, Data: map[string]any{"command": id}}
	case len(arguments) > 1:
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "%s takes one object, but got %d arguments", id, len(arguments))
	case len(arguments) == 0:
		arguments = []json.RawMessage{json.RawMessage("{}")}
	}
	task, err := c.read(arguments[0])
	if err != nil {
		m.User.Answer(nil, err)
		return nil, refusal.Of(err)
	}
	remoteID := m.remote.Find(task.target)
	if err := m.mayAsk(id, c, task, remoteID); err != nil {
		m.User.Answer(nil, err)
		return nil, refusal.Of(err)
	}
	own := m.takeTurn(c.lane, task, remoteID)
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

// mayAsk refuses what only a user may ask for, where who speaks to us is below a loop, and what can't be
// done with the loop elsewhere that it is about.
func (m *manager) mayAsk(id string, c command, t task, remoteID string) error {
	if remoteID == "" {
		return caller.Check(id)
	}
	if why := cmp.Or(c.notRemote, beyond(t.argument)); why != "" {
		return wire.Unable(remoteID, why)
	}
	return caller.Self().May(id)
}

// beyond says why a command asks for more than there is of a loop of another place.
func beyond(argument any) string {
	switch p := argument.(type) {
	case wire.CancelParams:
		if p.When != "" && p.When != wire.WhenNow {
			return wire.EndsAtOnce
		}
	case wire.ResumeParams:
		bounds := wire.ResumeParams{}.Values
		if bounds.Given = p.Given; p.Backend != "" || p.Values != bounds {
			return wire.AsSubmitted
		}
	}
	return ""
}

// takeTurn gives a command its turn, while it is still on the read loop; nil to one that has no place
// in the order.
func (m *manager) takeTurn(l lane, t task, remoteID string) *turns.Turn {
	switch holds := l != behind; {
	case l == beside:
		return nil
	case remoteID != "":
		return m.turns.Take("remote "+remoteID, holds)
	case l == ofSnapshots, l == ofLanding:
		return m.turns.Take(string(l)+m.workspace.Aim(t.target), holds)
	default:
		return m.turns.Take(m.workspace.Aim(t.target), holds)
	}
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
