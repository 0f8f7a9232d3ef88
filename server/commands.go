package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"

	"ralph-lsp/backends"
	"ralph-lsp/config"
	"ralph-lsp/loop"
	"ralph-lsp/loop/start"
	"ralph-lsp/loopstate"
)

// The commands of workspace/executeCommand. Their ids differ from those of the
// editors' own commands on purpose: clients register a server's ids globally.
const (
	CommandStart      = "ralph.loop.start"
	CommandCancel     = "ralph.loop.cancel"
	CommandPause      = "ralph.loop.pause"
	CommandResume     = "ralph.loop.resume"
	CommandUpdate     = "ralph.loop.update"
	CommandSteer      = "ralph.loop.steer"
	CommandStatus     = "ralph.loop.status"
	CommandOutput     = "ralph.loop.output"
	CommandHistory    = "ralph.loop.history"
	CommandTranscript = "ralph.loop.transcript"
	CommandPlan       = "ralph.plan"
	CommandHelp       = "ralph.help"
	CommandDoctor     = "ralph.doctor"
)

// command runs with the one object that its request has.
type command func(m *manager, ctx context.Context, argument json.RawMessage) (any, error)

// commands is the table of them; what it lists, the server announces.
var commands = map[string]command{
	CommandStart:      with((*manager).start),
	CommandCancel:     with((*manager).cancel),
	CommandPause:      with((*manager).pause),
	CommandResume:     with((*manager).resume),
	CommandUpdate:     with((*manager).update),
	CommandSteer:      with((*manager).steer),
	CommandStatus:     with((*manager).loops),
	CommandOutput:     with((*manager).output),
	CommandHistory:    with((*manager).history),
	CommandTranscript: with((*manager).transcript),
	CommandPlan:       with((*manager).plan),
	CommandHelp:       with((*manager).help),
	CommandDoctor:     with((*manager).doctor),
}

// commandIDs lists the commands for the server's capabilities.
func commandIDs() []string {
	ids := make([]string, 0, len(commands))
	for id := range commands {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// execute runs a command: what workspace/executeCommand asks for.
func (m *manager) execute(ctx context.Context, id string, arguments []json.RawMessage) (any, error) {
	run, ok := commands[id]
	switch {
	case !ok:
		return nil, &wireError{Code: codeInvalidParams, Message: "there is no command " + id, Data: map[string]any{"command": id}}
	case len(arguments) > 1:
		return nil, errf(codeInvalidParams, "%s takes one object, but got %d arguments", id, len(arguments))
	case len(arguments) == 0:
		arguments = []json.RawMessage{json.RawMessage("{}")}
	}
	if err := turnOf(ctx).await(ctx); err != nil {
		return nil, err
	}
	result, err := run(m, ctx, arguments[0])
	if err != nil {
		return nil, asWireError(err)
	}
	return result, nil
}

// The reasons of a command that failed, in data.reason.
const (
	ReasonAlreadyRunning  = "already_running"
	ReasonNotRunning      = "not_running"
	ReasonBackendNotFound = "backend_not_found"
	ReasonUntrusted       = "untrusted"
	ReasonStateLocked     = "state_locked"
	ReasonBadStateFile    = "bad_state_file"
	ReasonBadConfig       = "bad_config"
	ReasonEmptyPrompt     = "empty_prompt"
	ReasonBadPrompt       = "bad_prompt"
	ReasonLimitReached    = "limit_reached"
	ReasonNoFolder        = "no_folder"
	ReasonNoSession       = "no_session"
	ReasonInterrupted     = "interrupted"
)

// failed is a request that was understood and couldn't be done.
func failed(reason string, err error, more map[string]any) error {
	data := map[string]any{"reason": reason}
	for key, value := range more {
		data[key] = value
	}
	return &wireError{Code: codeRequestFailed, Message: err.Error(), Data: data}
}

// asWireError gives the errors of the loop and its rooms their reasons.
func asWireError(err error) error {
	var (
		wire        *wireError
		running     *loop.AlreadyRunningError
		interrupted *loop.InterruptedError
		capped      *loop.CapError
		missing     *backends.NotFoundError
		unknown     *backends.UnknownError
		syntax      *loopstate.SyntaxError
		outside     *loopstate.OutsideError
		invalid     *config.InvalidError
		untrusted   *config.UntrustedError
		noHat       *start.UnknownHatError
		unusable    *exec.Error
	)
	switch {
	case errors.As(err, &wire):
		return wire
	case errors.As(err, &running):
		return failed(ReasonAlreadyRunning, err, map[string]any{"owner": ownerOf(running.Owner), "question": QuestionAbout(err)})
	case errors.As(err, &interrupted):
		return failed(ReasonInterrupted, err, map[string]any{
			"iteration": interrupted.State.Iteration, "stateFileUri": FileURI(interrupted.Path),
			"stopReason": interrupted.Reason(), "question": QuestionAbout(err),
		})
	case errors.As(err, &missing):
		details := MissingOf(missing)
		if len(details.Checked) > 1 {
			err = fmt.Errorf("%w: the doctor tells how to install one", err)
		}
		return failed(ReasonBackendNotFound, err, map[string]any{"checked": details.Checked, "path": details.Path, "install": details.Install})
	case errors.As(err, &unknown):
		return failed(ReasonBackendNotFound, err, map[string]any{"checked": []string{unknown.Name}, "known": unknown.Known})
	case errors.As(err, &unusable): // a folder, or nothing that can be executed
		return failed(ReasonBackendNotFound, err, map[string]any{"checked": []string{unusable.Name}})
	case errors.As(err, &syntax), errors.As(err, &outside):
		return failed(ReasonBadStateFile, err, nil)
	case errors.As(err, &invalid):
		return failed(ReasonBadConfig, err, map[string]any{"problems": configProblems(invalid)})
	case errors.As(err, &untrusted):
		return failed(ReasonUntrusted, err, map[string]any{"fileUri": FileURI(untrusted.File), "wants": untrusted.Lines()})
	case errors.As(err, &noHat):
		return &wireError{Code: codeInvalidParams, Message: err.Error(), Data: map[string]any{"key": "hat", "known": append([]string{}, noHat.Known...)}}
	case errors.Is(err, loop.ErrEmptyPrompt):
		return failed(ReasonEmptyPrompt, err, nil)
	case errors.As(err, &capped):
		return failed(ReasonLimitReached, err, map[string]any{"stopReason": capped.Reason, "iterations": capped.Iterations})
	case errors.Is(err, loop.ErrNotRunning), errors.Is(err, loop.ErrNothingToGoOn):
		return failed(ReasonNotRunning, err, nil)
	case errors.Is(err, context.Canceled):
		return err // the core answers it as the specification says
	}
	return &wireError{Code: codeRequestFailed, Message: err.Error()}
}

// MissingOf are the details of agents that weren't found.
func MissingOf(e *backends.NotFoundError) MissingAgent {
	details := MissingAgent{Path: e.Path, Install: map[string]string{}}
	for _, b := range e.Looked {
		details.Checked = append(details.Checked, b.Command)
		details.Install[b.Name] = b.Install
	}
	return details
}

// Owner is who drives a loop, as clients see it.
type Owner struct {
	PID       int    `json:"pid,omitempty"`
	Host      string `json:"host,omitempty"`
	StartedAt string `json:"startedAt,omitempty"`
}
