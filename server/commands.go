package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"

	agentfiles "github.com/ralph-lsp/ralph-lsp/agents"
	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/changes"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
	"github.com/ralph-lsp/ralph-lsp/server/rpc"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
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
		wire.CommandRead:    with(r.read),
		wire.CommandOutline: with(r.outline),
		wire.CommandOutput:  with(r.output),
		wire.CommandHistory: with(r.history),
		wire.CommandPrompts: with(r.prompts),
		wire.CommandChanges: with(v.changes),
		wire.CommandFile:    with(v.file),
		wire.CommandUndo:    with(v.undo),
		wire.CommandRedo:    with(v.redo),
		wire.CommandKeep:    with(v.keep),
		wire.CommandLand:    with(v.land),
		wire.CommandFetch:   with(m.afar.fetch),
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
		m.user.answer(nil, err)
		return nil, err
	}
	if err := m.mayAsk(id, task); err != nil {
		m.user.answer(nil, err)
		return nil, asWireError(err)
	}
	own := m.takeTurn(id, task)
	return func(ctx context.Context) (any, error) {
		defer own.end()
		if err := own.await(ctx); err != nil {
			return nil, err
		}
		result, err := task.run(context.WithValue(ctx, turnKey{}, own))
		m.user.answer(result, err)
		if err != nil {
			return nil, withOffers(asWireError(err), id, arguments[0])
		}
		return result, nil
	}, nil
}

// mayAsk refuses what only a user may ask for, where who speaks to us is below a loop, and what can't be done with one elsewhere.
func (m *manager) mayAsk(id string, t task) error {
	if loopID := m.afar.find(t.target); loopID != "" {
		return m.afar.can(id, loopID, t.argument)
	}
	folder, _ := m.workspace.folderPath(t.target.Folder) // what can't be told is none of the agent's own
	return caller.Check(id, folder)
}

// failed is a request that was understood and couldn't be done.
func failed(reason string, err error, more map[string]any) error {
	data := map[string]any{"reason": reason}
	for key, value := range more {
		data[key] = value
	}
	return &rpc.Error{Code: rpc.CodeRequestFailed, Message: err.Error(), Data: data}
}

// withOffers adds what can be done instead to the data of a command's error.
func withOffers(err error, id string, argument json.RawMessage) error {
	var known *rpc.Error
	if !errors.As(err, &known) {
		return err
	}
	data, _ := known.Data.(map[string]any)
	reason, _ := data["reason"].(string)
	if offers := wire.OffersInstead(reason, id, argument); offers != nil {
		data["offers"] = offers
	}
	return err
}

// plainReasons are those of errors of which nothing more is to be told.
var plainReasons = map[error]string{
	loop.ErrEmptyPrompt: wire.ReasonEmptyPrompt, loop.ErrNotRunning: wire.ReasonNotRunning, loop.ErrNothingToGoOn: wire.ReasonNotRunning,
	loop.ErrNotDetachable: wire.ReasonNotDetachable, loop.ErrNoRun: wire.ReasonNoRun, ask.ErrNoQuestion: wire.ReasonNoQuestion,
	loop.ErrNothingToAccept: wire.ReasonNothingToAccept,
}

// asWireError gives the errors of the loop and its rooms their reasons.
func asWireError(err error) error {
	var (
		known       *rpc.Error
		running     *loop.AlreadyRunningError
		interrupted *loop.InterruptedError
		capped      *loop.CapError
		missing     *backends.NotFoundError
		unknown     *backends.UnknownError
		invalid     *config.InvalidError
		untrusted   *config.UntrustedError
		noHat       *start.UnknownHatError
		noAgent     *agentfiles.UnknownError
		unusable    *exec.Error
		atWork      *loop.AtWorkError
		noWalls     *sandbox.Error
		failure     *wire.Failure
	)
	switch {
	case errors.As(err, &failure) && failure.Key != "":
		return invalidKey(failure.Key, "%v", failure)
	case failure != nil:
		return failed(failure.Reason, failure, nil)
	case errors.As(err, &known):
		return known
	case errors.As(err, &running):
		return failed(wire.ReasonAlreadyRunning, err, map[string]any{"owner": ownerOf(running.Owner), "question": wire.QuestionAbout(err)})
	case errors.As(err, &interrupted):
		return failed(wire.ReasonInterrupted, err, map[string]any{
			"iteration": interrupted.State.Iteration, "stateFileUri": wire.FileURI(interrupted.Path),
			"stopReason": interrupted.Reason(), "question": wire.QuestionAbout(err),
		})
	case errors.As(err, &missing):
		return asMissing(err, missing)
	case errors.As(err, &unknown):
		return failed(wire.ReasonBackendNotFound, err, map[string]any{"checked": []string{unknown.Name}, "known": unknown.Known})
	case errors.As(err, &unusable): // a folder, or nothing that can be executed
		return failed(wire.ReasonBackendNotFound, err, map[string]any{"checked": []string{unusable.Name}})
	case errors.As(err, new(*loopstate.SyntaxError)), errors.As(err, new(*loopstate.OutsideError)):
		return failed(wire.ReasonBadStateFile, err, nil)
	case errors.As(err, &invalid):
		return failed(wire.ReasonBadConfig, err, map[string]any{"problems": answers.ProblemsOf(invalid)})
	case errors.As(err, &untrusted):
		return failed(wire.ReasonUntrusted, err, map[string]any{"fileUri": wire.FileURI(untrusted.File), "wants": untrusted.Lines()})
	case errors.As(err, &noHat):
		return &rpc.Error{Code: rpc.CodeInvalidParams, Message: err.Error(), Data: map[string]any{"key": "hat", "known": append([]string{}, noHat.Known...)}}
	case errors.As(err, &noAgent):
		return &rpc.Error{Code: rpc.CodeInvalidParams, Message: err.Error(), Data: map[string]any{"key": "agent", "known": append([]string{}, noAgent.Known...)}}
	case errors.As(err, &capped):
		return failed(wire.ReasonLimitReached, err, map[string]any{"stopReason": capped.Reason, "iterations": capped.Used.MaxIterations})
	case errors.As(err, new(*ask.AnswerError)):
		return invalidKey("answer", "%v", err)
	case errors.As(err, &noWalls):
		return failed(wire.ReasonNoSandbox, err, map[string]any{"fix": noWalls.Fix})
	case errors.As(err, new(*loopstate.NotWritableError)):
		return failed(wire.ReasonNotWritable, err, nil)
	case errors.As(err, new(*caller.Refused)):
		return failed(wire.ReasonAgent, err, nil)
	case errors.As(err, &atWork):
		return failed(wire.ReasonAtWork, fmt.Errorf("%w: pause the loop, and undo when it has ended", err),
			map[string]any{"iteration": atWork.Iteration, "offers": wire.OffersAtWork(atWork.Folder)})
	case errors.As(err, new(*changes.OutsideError)):
		return invalidKey("paths", "%v", err)
	case errors.As(err, new(*changes.TooLargeError)):
		return failed(wire.ReasonTooLarge, err, nil)
	case errors.Is(err, changes.ErrNone), errors.Is(err, changes.ErrNoGit):
		return failed(wire.ReasonNoSnapshots, err, nil)
	case errors.Is(err, context.Canceled):
		return err // the core answers it as the specification says
	}
	for plain, reason := range plainReasons {
		if errors.Is(err, plain) {
			return failed(reason, err, nil)
		}
	}
	return &rpc.Error{Code: rpc.CodeRequestFailed, Message: err.Error()}
}

// asMissing is the error for agents that weren't found.
func asMissing(err error, missing *backends.NotFoundError) error {
	details := wire.MissingOf(missing)
	if len(details.Checked) > 1 {
		err = fmt.Errorf("%w: the doctor says how to install one", err)
	}
	return failed(wire.ReasonBackendNotFound, err, map[string]any{"checked": details.Checked, "path": details.Path, "install": details.Install})
}
