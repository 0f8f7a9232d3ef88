package service

import (
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/agents"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// FailureOf returns an error as all clients get it: with a reason, or the key of the argument that is
// wrong, where it is one of a loop or its rooms; nil for another one.
func FailureOf(err error) *wire.Failure {
	if err == nil {
		return nil
	}
	for _, tell := range rules {
		if f := tell(err); f != nil {
			return f
		}
	}
	return nil
}

// IsInvalid says whether an error is for what nothing can have, and not for how things stand.
func IsInvalid(err error) bool {
	f := FailureOf(err)
	return f != nil && f.Key != ""
}

// A rule tells an error as clients get it; nil is one that isn't its business.
type rule func(error) *wire.Failure

type data = map[string]any

// rules are tried in their order.
var rules = []rule{
	told(func(e *wire.Failure) *wire.Failure { return e }),
	known(wire.ReasonAlreadyRunning, func(e *loop.AlreadyRunningError) data {
		return data{"owner": ownerOf(e.Owner), "question": wire.QuestionAbout(e)}
	}),
	known(wire.ReasonInterrupted, func(e *loop.InterruptedError) data {
		return data{"iteration": e.State.Iteration, "stateFileUri": wire.FileURI(e.Path), "stopReason": e.Reason(),
			"question": wire.QuestionAbout(e)}
	}),
	missing,
	known(wire.ReasonBackendNotFound, func(e *backends.UnknownError) data { return data{"checked": []string{e.Name}, "known": e.Known} }),
	// a folder, or nothing that can be executed
	known(wire.ReasonBackendNotFound, func(e *exec.Error) data { return data{"checked": []string{e.Name}} }),
	known[*loopstate.SyntaxError](wire.ReasonBadStateFile, nil),
	known[*loopstate.OutsideError](wire.ReasonBadStateFile, nil),
	known[*loopstate.PlaceError](wire.ReasonBadStateFile, nil),
	known(wire.ReasonBadConfig, func(e *config.InvalidError) data { return data{"problems": answers.ProblemsOf(e)} }),
	known(wire.ReasonUntrusted, func(e *config.UntrustedError) data { return data{"fileUri": wire.FileURI(e.File), "wants": e.Lines()} }),
	told(func(e *start.UnknownHatError) *wire.Failure { return unknownName("hat", e, e.Known) }),
	told(func(e *agents.UnknownError) *wire.Failure { return unknownName("agent", e, e.Known) }),
	known(wire.ReasonLimitReached, func(e *loop.CapError) data { return data{"stopReason": e.Reason, "iterations": e.Used.MaxIterations} }),
	badSetting,
	about[*start.ArgumentError]("args"),
	about[*ask.AnswerError]("answer"),
	told(func(e *history.FormatError) *wire.Failure { return &wire.Failure{Reason: wire.ReasonNoSession, Err: e} }),
	known(wire.ReasonNoSandbox, func(e *sandbox.Error) data { return data{"fix": e.Fix} }),
	known[*loopstate.NotWritableError](wire.ReasonNotWritable, nil),
	known[*caller.Refused](wire.ReasonAgent, nil),
	told(func(e *loop.AtWorkError) *wire.Failure {
		return &wire.Failure{Reason: wire.ReasonAtWork, Err: fmt.Errorf("%w: pause the loop, and undo when it has ended", e),
			Data: data{"iteration": e.Iteration, "offers": wire.OffersAtWork(e.Folder)}}
	}),
	about[*changes.OutsideError]("paths"),
	known[*changes.TooLargeError](wire.ReasonTooLarge, nil),
	known[*worktree.Error](wire.ReasonNoWorktree, nil),
	known[*start.SetupError](wire.ReasonNoWorktree, nil),
	is(worktree.ErrGone, wire.ReasonNoWorktree),
	is(changes.ErrNone, wire.ReasonNoSnapshots),
	is(changes.ErrNoGit, wire.ReasonNoSnapshots),
	is(loop.ErrEmptyPrompt, wire.ReasonEmptyPrompt),
	is(loop.ErrNotRunning, wire.ReasonNotRunning),
	is(loop.ErrNothingToGoOn, wire.ReasonNotRunning),
	is(loop.ErrNotDetachable, wire.ReasonNotDetachable),
	is(loop.ErrNoRun, wire.ReasonNoRun),
	is(ask.ErrNoQuestion, wire.ReasonNoQuestion),
	is(loop.ErrNothingToAccept, wire.ReasonNothingToAccept),
}

// told is the rule for a type of errors.
func told[E error](tell func(E) *wire.Failure) rule {
	return func(err error) *wire.Failure {
		if e, ok := errors.AsType[E](err); ok {
			return tell(e)
		}
		return nil
	}
}

// known is the rule for a type of errors that have a reason; more is nil where nothing else is to be told.
func known[E error](reason string, more func(E) data) rule {
	return func(err error) *wire.Failure {
		e, ok := errors.AsType[E](err)
		switch {
		case !ok:
			return nil
		case more == nil:
			return &wire.Failure{Reason: reason, Err: err}
		}
		return &wire.Failure{Reason: reason, Err: err, Data: more(e)}
	}
}

// about is the rule for a type of errors about a key of the argument.
func about[E error](key string) rule {
	return func(err error) *wire.Failure {
		if _, ok := errors.AsType[E](err); ok {
			return &wire.Failure{Key: key, Err: err}
		}
		return nil
	}
}

// is is the rule for one error.
func is(one error, reason string) rule {
	return func(err error) *wire.Failure {
		if errors.Is(err, one) {
			return &wire.Failure{Reason: reason, Err: err}
		}
		return nil
	}
}

// badSetting is the rule for a setting, by its name on the wire.
func badSetting(err error) *wire.Failure {
	e, ok := errors.AsType[*limits.Error](err)
	switch {
	case !ok:
		return nil
	case e.Name != e.Wire: // as a file has it
		err = fmt.Errorf("%s %w", e.Wire, e.Err)
	}
	return &wire.Failure{Key: e.Wire, Err: err}
}

func unknownName(key string, err error, known []string) *wire.Failure {
	return &wire.Failure{Key: key, Err: err, Data: data{"known": append([]string{}, known...)}}
}

// missing is the rule for agents that weren't found.
func missing(err error) *wire.Failure {
	e, ok := errors.AsType[*backends.NotFoundError](err)
	if !ok {
		return nil
	}
	details := wire.MissingOf(e)
	if len(details.Checked) > 1 {
		err = fmt.Errorf("%w: the doctor says how to install one", err)
	}
	return &wire.Failure{Reason: wire.ReasonBackendNotFound, Err: err,
		Data: data{"checked": details.Checked, "path": details.Path, "install": details.Install}}
}

func ownerOf(o loopstate.Owner) wire.Owner {
	owner := wire.Owner{PID: o.PID, Host: o.Host}
	if !o.StartedAt.IsZero() {
		owner.StartedAt = o.StartedAt.UTC().Format(time.RFC3339)
	}
	return owner
}
