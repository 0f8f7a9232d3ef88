// Package refusal says why a command isn't done, in the terms that clients are given: a code, and
// data with a reason or the key of the argument that is wrong.
package refusal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"time"

	"github.com/ralph-lsp/ralph-lsp/agents"
	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/changes"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
	"github.com/ralph-lsp/ralph-lsp/server/rpc"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// Invalid is the error for a key of a command's argument.
func Invalid(key, format string, args ...any) error {
	return &rpc.Error{Code: rpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...), Data: data{"key": key}}
}

// IsInvalid says whether an error is for what no command can have, and not for how things stand.
func IsInvalid(err error) bool {
	known, ok := errors.AsType[*rpc.Error](Of(err))
	return ok && known.Code == rpc.CodeInvalidParams
}

// Reason is the data.reason that an error has for a client, "" for none.
func Reason(err error) string {
	known, _ := errors.AsType[*rpc.Error](Of(err))
	return reasonIn(known)
}

func reasonIn(e *rpc.Error) (reason string) {
	if e != nil {
		data, _ := e.Data.(map[string]any)
		reason, _ = data["reason"].(string)
	}
	return reason
}

// Failed is a request that was understood and couldn't be done.
func Failed(reason string, err error, more map[string]any) error {
	data := map[string]any{"reason": reason}
	maps.Copy(data, more)
	return &rpc.Error{Code: rpc.CodeRequestFailed, Message: err.Error(), Data: data}
}

// WithOffers adds what can be done instead to the data of a command's error.
func WithOffers(err error, id string, argument json.RawMessage) error {
	known, _ := errors.AsType[*rpc.Error](err)
	if offers := wire.OffersInstead(reasonIn(known), id, argument); offers != nil {
		known.Data.(map[string]any)["offers"] = offers
	}
	return err
}

// Of gives the errors of the loop and its rooms their reasons.
func Of(err error) error {
	if err == nil {
		return nil
	}
	for _, told := range rules {
		if known := told(err); known != nil {
			return known
		}
	}
	return &rpc.Error{Code: rpc.CodeRequestFailed, Message: err.Error()}
}

// A rule tells an error as a client gets it; nil is one that isn't its business.
type rule func(error) error

type data = map[string]any

// rules are tried in their order.
var rules = []rule{
	told(func(e *wire.Failure) error {
		if e.Key != "" {
			return Invalid(e.Key, "%v", e)
		}
		return Failed(e.Reason, e, nil)
	}),
	told(func(e *rpc.Error) error { return e }),
	failed(wire.ReasonAlreadyRunning, func(e *loop.AlreadyRunningError) data {
		return data{"owner": ownerOf(e.Owner), "question": wire.QuestionAbout(e)}
	}),
	failed(wire.ReasonInterrupted, func(e *loop.InterruptedError) data {
		return data{"iteration": e.State.Iteration, "stateFileUri": wire.FileURI(e.Path), "stopReason": e.Reason(), "question": wire.QuestionAbout(e)}
	}),
	missing,
	failed(wire.ReasonBackendNotFound, func(e *backends.UnknownError) data { return data{"checked": []string{e.Name}, "known": e.Known} }),
	failed(wire.ReasonBackendNotFound, func(e *exec.Error) data { return data{"checked": []string{e.Name}} }), // a folder, or nothing that can be executed
	failed[*loopstate.SyntaxError](wire.ReasonBadStateFile, nil),
	failed[*loopstate.OutsideError](wire.ReasonBadStateFile, nil),
	failed[*loopstate.PlaceError](wire.ReasonBadStateFile, nil),
	failed(wire.ReasonBadConfig, func(e *config.InvalidError) data { return data{"problems": answers.ProblemsOf(e)} }),
	failed(wire.ReasonUntrusted, func(e *config.UntrustedError) data { return data{"fileUri": wire.FileURI(e.File), "wants": e.Lines()} }),
	told(func(e *start.UnknownHatError) error { return unknownName("hat", e, e.Known) }),
	told(func(e *agents.UnknownError) error { return unknownName("agent", e, e.Known) }),
	failed(wire.ReasonLimitReached, func(e *loop.CapError) data { return data{"stopReason": e.Reason, "iterations": e.Used.MaxIterations} }),
	told(func(e *limits.Error) error { return Invalid(e.Limit.Wire, "%s %v", e.Limit.Wire, e.Err) }),
	badSetting,
	invalid[*start.ArgumentError]("args"),
	invalid[*ask.AnswerError]("answer"),
	told(func(e *history.FormatError) error { return Failed(wire.ReasonNoSession, e, nil) }),
	failed(wire.ReasonNoSandbox, func(e *sandbox.Error) data { return data{"fix": e.Fix} }),
	failed[*loopstate.NotWritableError](wire.ReasonNotWritable, nil),
	failed[*caller.Refused](wire.ReasonAgent, nil),
	told(func(e *loop.AtWorkError) error {
		return Failed(wire.ReasonAtWork, fmt.Errorf("%w: pause the loop, and undo when it has ended", e),
			data{"iteration": e.Iteration, "offers": wire.OffersAtWork(e.Folder)})
	}),
	invalid[*changes.OutsideError]("paths"),
	failed[*changes.TooLargeError](wire.ReasonTooLarge, nil),
	is(changes.ErrNone, wire.ReasonNoSnapshots),
	is(changes.ErrNoGit, wire.ReasonNoSnapshots),
	canceled,
	is(loop.ErrEmptyPrompt, wire.ReasonEmptyPrompt),
	is(loop.ErrNotRunning, wire.ReasonNotRunning),
	is(loop.ErrNothingToGoOn, wire.ReasonNotRunning),
	is(loop.ErrNotDetachable, wire.ReasonNotDetachable),
	is(loop.ErrNoRun, wire.ReasonNoRun),
	is(ask.ErrNoQuestion, wire.ReasonNoQuestion),
	is(loop.ErrNothingToAccept, wire.ReasonNothingToAccept),
}

// told is the rule for a type of errors.
func told[E error](tell func(E) error) rule {
	return func(err error) error {
		if e, ok := errors.AsType[E](err); ok {
			return tell(e)
		}
		return nil
	}
}

// failed is the rule for a type of errors that have a reason; more is nil where nothing else is to be told.
func failed[E error](reason string, more func(E) data) rule {
	return func(err error) error {
		e, ok := errors.AsType[E](err)
		switch {
		case !ok:
			return nil
		case more == nil:
			return Failed(reason, err, nil)
		}
		return Failed(reason, err, more(e))
	}
}

// invalid is the rule for a type of errors about a key of the argument.
func invalid[E error](key string) rule {
	return func(err error) error {
		if _, ok := errors.AsType[E](err); ok {
			return Invalid(key, "%v", err)
		}
		return nil
	}
}

// is is the rule for one error.
func is(one error, reason string) rule {
	return func(err error) error {
		if errors.Is(err, one) {
			return Failed(reason, err, nil)
		}
		return nil
	}
}

// badSetting is the rule for a setting, by its name on the wire.
func badSetting(err error) error {
	if e, ok := errors.AsType[*settings.Error](err); ok {
		return Invalid(e.Setting.Wire, "%v", err)
	}
	return nil
}

// canceled is left to the connection, which answers as the specification says.
func canceled(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

func unknownName(key string, err error, known []string) error {
	return &rpc.Error{Code: rpc.CodeInvalidParams, Message: err.Error(), Data: data{"key": key, "known": append([]string{}, known...)}}
}

// missing is the rule for agents that weren't found.
func missing(err error) error {
	e, ok := errors.AsType[*backends.NotFoundError](err)
	if !ok {
		return nil
	}
	details := wire.MissingOf(e)
	if len(details.Checked) > 1 {
		err = fmt.Errorf("%w: the doctor says how to install one", err)
	}
	return Failed(wire.ReasonBackendNotFound, err, data{"checked": details.Checked, "path": details.Path, "install": details.Install})
}

func ownerOf(o loopstate.Owner) wire.Owner {
	owner := wire.Owner{PID: o.PID, Host: o.Host}
	if !o.StartedAt.IsZero() {
		owner.StartedAt = o.StartedAt.UTC().Format(time.RFC3339)
	}
	return owner
}
