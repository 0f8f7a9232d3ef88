package engine

import (
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/inbox"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/snapshots"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/stagnation"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// beginSnapshots has the folder as it is before the first iteration looked at,
// while the loop prepares that.
func (l *runs) beginSnapshots() {
	options := l.cfg.Storage.Changes
	options.Skip = snapshots.OwnFiles(l.cfg.Folder, l.status().SessionFile, l.cfg.Storage.Recordings, l.id, l.cfg.Values.Notes)
	options.Hidden = l.cfg.Sandbox.HiddenIn(l.cfg.Folder) // even without walls: a later loop may have them
	l.snapshots.Survey = func(text string) {
		l.inbox.Tell(func() {
			if now := l.state.Survey(text); now.State != "" {
				l.events.emit(now)
			}
		})
	}
	l.snapshots.Begin(l.id, options, l.host.Printed, l.diagnoseBefore, func() {
		_ = registry.Prune(l.cfg.Storage.History.Keep, l.cfg.Storage.History.MaxBytes,
			func(e registry.Entry) bool { return loop.Needs(e.Folder, e.LoopID) })
	})
}

// snapshotBefore makes sure that what an agent finds is in a snapshot.
func (l *runs) snapshotBefore() {
	iterations := l.state.SpentBefore.Iterations
	was := snapshots.Previous{Reader: loop.HatOf(l.state.LastRead), CutOff: l.stagnation.CutOff}
	if worn, _ := l.cfg.Roles.Named(was.Reader); !worn.ReadOnly {
		was.Reader = ""
	}
	past := inbox.Found(&l.inbox, func() []changes.Past { return l.snapshots.Before(iterations, was) })
	l.stagnation.Before(l.snapshots.Found, past, iterations)
}

// noteProgress counts a run that made no progress, and warns in time.
func (l *runs) noteProgress(run setup.Run, r judge.Report) {
	was := stagnation.Run{
		Report: r, Iteration: run.Iteration, Prompt: run.Prompt, IsTold: l.state.Steering.IsTold(),
		Found: l.snapshots.Found, Left: l.snapshots.Now, Tools: l.state.Run.Tools,
		IsText: l.cfg.WithHat(run.Turn.Hat.Name).Backend.Output == decode.FormatText, Hat: run.Turn.Hat.Name,
	}
	if r.Verdict.Matched && r.Checked && !r.Passed {
		was.Refutation = l.state.Verification.Refutation
	}
	if r.Checked {
		l.snapshots.Last = time.Time{} // the check's writes are no run's work
	}
	n, warning := l.stagnation.CountUnchanged(was, l.state.Counts.NoProgress, l.state.Status.Limits.MaxUnchanged, func(files []string) bool {
		return inbox.Found(&l.inbox, func() bool { return l.snapshots.WroteBeyond(files) })
	})
	if l.state.Counts.NoProgress = n; warning != "" {
		l.events.emit(loop.Warning{Message: warning})
	}
}
