package engine

import (
	"cmp"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/executor"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/inbox"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/proof"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/verify"
)

// gate is one of what a promise has to pass, and how it is asked.
type gate struct {
	proof.Gate
	// ask finds out whether the work passes, for as long as that takes. It returns
	// early when the loop is to end; then what it says doesn't count.
	ask func(*verification, *checkedRun) verify.Result
}

// gates is the row of them, in the order of verify.Gates.
var gates = []gate{commandGate, diagnosticsGate, protectGate, reviewerGate}

// checkedRun is the run whose work the gates look at, one after the other.
type checkedRun struct {
	iteration   int
	folder, own string // where the command is run, and what it may write besides; "": as everything
	proof.Row
	reviews int // so far
}

// commandGate runs the command.
var commandGate = gate{proof.Gate{Name: verify.CommandGate, Each: true}, func(l *verification, done *checkedRun) verify.Result {
	out := &verify.Output{}
	result := out.Judge(l.runCheck(done, out))
	verify.Locate(cmp.Or(done.folder, l.cfg.Folder), result.Problems)
	return result
}}

// runCheck starts the command and waits until it and all that it started are gone.
func (l *verification) runCheck(done *checkedRun, out *verify.Output) verify.Exit {
	dir := cmp.Or(done.folder, l.cfg.Folder)
	var shown int64
	exit, late, err := l.exec.Check(executor.Check{
		Part: executor.Part{
			Role: setup.Role{Backend: backends.Program(done.Check.Argv(), dir)},
			Spec: backends.Spec{Dir: dir, Own: done.own, Scope: l.scope, Iteration: done.iteration, Raw: out},
		},
		Timeout: done.Check.Timeout,
		Beat: func() {
			if size := out.Size(); size != shown {
				shown = size
				v := l.verifyEvent(done.Check, verify.CommandGate, verify.Running)
				v.Output = out.Tail()
				l.events.emit(v)
			}
		},
	})
	if err != nil {
		return verify.Exit{Code: -1, Missing: loop.OneLine(err.Error())}
	}
	told := verify.Exit{Code: exit.Code, Signal: exit.Signal}
	if late != "" {
		told.TimedOut = done.Check.Timeout
	}
	if f := exit.Result.Failure; f != nil {
		told.Missing = loop.OneLine(f.Message)
	}
	return told
}

// pass asks a gate once. ok is false when the loop is to end before that has told
// anything.
func (l *verification) pass(g gate, done *checkedRun) (result verify.Result, ok bool) {
	if l.state.Wanted.Cause != "" {
		return result, false
	}
	began, before := time.Now(), l.state.Base.Cost
	l.state.BeginRun(began)
	l.state.Status.Tool = &loop.ToolStatus{Call: setup.GateCall(done.Check, g.Name), StartedAt: began}
	l.events.setState(loop.StateChanged{State: loop.StateRunning}, nil)
	l.files.saveNow() // who is killed from here on goes on with it
	l.inbox.Elsewhere(l.snapshots.Await)
	if g.Name != verify.ProtectGate { // which takes no time
		l.events.emit(l.verifyEvent(done.Check, g.Name, verify.Running))
	}
	result = g.ask(l, done)
	took := time.Since(began) - l.state.Idle()
	l.state.Run.Running, l.state.Run.Agents, l.state.Status.Tool = nil, nil, nil
	l.state.Base.Elapsed += took
	l.record.setOwner()
	if l.state.Wanted.Cause != "" {
		return result, false
	}
	told := l.verifyEvent(done.Check, g.Name, result.State)
	told.Why, told.Code, told.Duration, told.Output, told.Problems = result.Why, result.Code, took, result.Output, result.Problems
	if after := l.state.Base.Cost; after != before {
		told.Cost = stream.Cost{USD: after.USD - before.USD, Known: true}
	}
	l.events.emit(told)
	return result, true
}

// verifyEvent is what is told of a gate that is asked.
func (l *verification) verifyEvent(check verify.Check, g verify.Gate, state verify.State) loop.Verify {
	v := loop.Verify{Gate: g, State: state, Command: check.Subject(g), Code: -1, Promised: l.state.Proof.Promised != ""}
	if state == verify.Unchecked && (v.Promised || check.When == verify.OnUntil) {
		v.Offer = loop.Offer{LoopID: l.id, Folder: l.cfg.Folder, Unchecked: true}
	}
	return v
}

// protectGate holds a promise back when the loop changed what is protected.
var protectGate = gate{proof.Gate{Name: verify.ProtectGate}, func(l *verification, done *checkedRun) verify.Result {
	return inbox.Found(&l.inbox, func() verify.Result { return proof.Protected(&l.snapshots, l.cfg.Verify, l.cfg.CheckFile) })
}}
