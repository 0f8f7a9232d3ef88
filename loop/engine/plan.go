package engine

import (
	"slices"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/inbox"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/tasks"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
)

// fromPlan is who asks about the plan, in the place of a run.
const fromPlan = "\x00plan"

// settleCutOff finds out what a run did of the plan whose process was ended before it could.
func (l *engine) settleCutOff() {
	if l.tasks.IsOwed() {
		l.files.work(func() { l.tasks.Settle(&l.planning, setup.Run{}, &judge.Report{NeverBegan: true}) })
	}
}

// endOfPlan ends the loop when no task is open, before another run is paid for.
func (l *engine) endOfPlan() (end loop.End, isOver bool) {
	if !l.tasks.IsOn() || l.tasks.Before(&l.planning) != "" || !l.tasks.IsDone() {
		return end, false
	}
	r := judge.Report{Outcome: loop.OutcomeOK}
	if l.state.Verification.Refutation != "" || l.state.Wanted.Paused || l.state.Wanted.Cause != "" { // a run is told that
		return end, false
	}
	l.tasks.Promise(&l.planning, &r)
	if l.state.Verification.After(&r) {
		l.files.work(func() { l.checks.settle(&r, max(l.state.SpentBefore.Iterations, 1)); l.tasks.Watch(&l.planning) })
	}
	return l.decide(r)
}

// Check implements tasks.Host.
func (l *planning) Check(iteration int, check verify.Check, t tasks.Candidate) (verify.Result, bool) {
	in := &inspection{checks: l.checks, iteration: iteration, check: check, folder: t.Folder, own: t.Own}
	return in.Ask(verify.CommandGate, nil)
}

// OnlyChanged implements tasks.Host.
func (l *planning) OnlyChanged(name string, iteration int) bool {
	wrote := slices.Clone(l.state.Run.Tools.Wrote)
	return inbox.Found(&l.inbox, func() bool { return l.snapshots.OnlyChanged(name, iteration, wrote) })
}

// Wrote implements tasks.Host.
func (l *planning) Wrote(iteration int) {
	l.inbox.Elsewhere(func() { l.snapshots.After(iteration) })
}

// Guards implements tasks.Host.
func (l *planning) Guards(check verify.Check) string { return l.checks.guardsOf(check) }

// Ask implements tasks.Host.
func (l *planning) Ask(kind, title, detail string, yes func()) {
	l.questions.askAgain(fromPlan+kind, title, detail, yes)
}

// Withdraw implements tasks.Host.
func (l *planning) Withdraw(kind string) { l.pending.End(fromPlan + kind) }

// TooEarly implements tasks.Host.
func (l *planning) TooEarly(promise, why string) {
	if l.goal.IsNew("plan", l.state.Status.Promise) {
		l.events.emit(loop.NearMiss{Found: promise, Why: why})
	}
	l.goal.Next = "Of the last iteration: " + why + ". Do the next one."
}

// Tell implements tasks.Host.
func (l *planning) Tell(text string) { l.state.Verification.Tell(text) }

// Warn implements tasks.Host.
func (l *planning) Warn(text string) { l.events.warn([]string{text}) }
