package engine

import (
	"cmp"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/executor"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/inbox"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/verification"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// gates has the functions that ask each gate, for as long as that takes. A function returns early when the loop is to
// end; its result doesn't count then. verdicts are the verdicts of the gates before it.
var gates = map[verify.Gate]func(in *inspection, verdicts []string) verify.Result{
	verify.CommandGate:     runCommand,
	verify.DiagnosticsGate: diagnostics,
	verify.ProtectGate:     protected,
	verify.ReviewerGate:    review,
}

// inspection is a look at the work of a run. The policy of the loop asks its gates (verification.Host), and so do tasks of a
// plan.
type inspection struct {
	*checks
	iteration   int
	check       verify.Check
	folder, own string // where the command is run, and what it may write besides; "": as everything
	reviews     int    // so far
}

// runCommand runs the command that verifies.
func runCommand(in *inspection, _ []string) verify.Result {
	out := &verify.Output{}
	result := out.Judge(in.run(out))
	verify.Locate(cmp.Or(in.folder, in.cfg.Folder), result.Problems)
	return result
}

// run starts the command and waits until it and all that it started are gone.
func (in *inspection) run(out *verify.Output) verify.Exit {
	dir := cmp.Or(in.folder, in.cfg.Folder)
	var shown int64
	exit, late, err := in.exec.Check(executor.Check{
		Part: executor.Part{
			Role: setup.Role{Backend: backends.Program(in.check.Argv(), dir)},
			Spec: backends.Spec{Dir: dir, Own: in.own, Scope: in.scope, Iteration: in.iteration, Raw: out},
		},
		Timeout: in.check.Timeout,
		Beat: func() {
			if size := out.Size(); size != shown {
				shown = size
				v := in.event(verify.CommandGate, verify.Running)
				v.Output = out.Tail()
				in.events.emit(v)
			}
		},
	})
	if err != nil {
		return verify.Exit{Code: -1, Missing: loop.OneLine(err.Error())}
	}
	told := verify.Exit{Code: exit.Code, Signal: exit.Signal}
	if late != "" {
		told.TimedOut = in.check.Timeout
	}
	if f := exit.Result.Failure; f != nil {
		told.Missing = loop.OneLine(f.Message)
	}
	return told
}

// Ask implements verification.Host.
func (in *inspection) Ask(g verify.Gate, verdicts []string) (result verify.Result, ok bool) {
	l := in.checks
	if l.state.Wanted.Cause != "" {
		return result, false
	}
	began, before := time.Now(), l.state.SpentBefore.Cost
	l.state.BeginRun(began)
	l.state.Status.Tool = &loop.ToolStatus{Call: setup.GateCall(in.check, g), StartedAt: began}
	l.events.setState(loop.StateChanged{State: loop.StateRunning}, nil)
	l.files.saveNow() // a killed loop goes on with it
	l.inbox.Elsewhere(l.snapshots.Await)
	if g != verify.ProtectGate { // which takes no time
		l.events.emit(in.event(g, verify.Running))
	}
	result = gates[g](in, verdicts)
	took := time.Since(began) - l.state.Idle()
	l.state.Run.Running, l.state.Run.Agents, l.state.Status.Tool = nil, nil, nil
	l.state.SpentBefore.Elapsed += took
	l.record.stands()
	if l.state.Wanted.Cause != "" {
		return result, false
	}
	told := in.event(g, result.State)
	told.Why, told.Duration, told.Output, told.Problems = result.Why, stream.Duration(took), result.Output, result.Problems
	if result.Code >= 0 {
		told.ExitCode = &result.Code
	}
	if after := l.state.SpentBefore.Cost; after != before {
		told.Cost = stream.Cost{USD: after.USD - before.USD, Known: true}
	}
	l.events.emit(told)
	return result, true
}

// event is what is told of a gate that is asked.
func (in *inspection) event(g verify.Gate, state verify.State) loop.Verify {
	v := loop.Verify{Gate: g, State: state, Command: in.check.Subject(g), Promised: in.state.Verification.Promised != ""}
	if state == verify.Unchecked && (v.Promised || in.check.When == verify.OnUntil) {
		v.Offer = loop.Offer{LoopID: in.id, Folder: in.cfg.Folder, Unchecked: true}
	}
	return v
}

// protected holds a promise back when the loop changed what is protected.
func protected(in *inspection, _ []string) verify.Result {
	return inbox.Found(&in.inbox, func() verify.Result {
		return verification.Protected(&in.snapshots, in.cfg.Verification.Check, in.cfg.Verification.File)
	})
}
