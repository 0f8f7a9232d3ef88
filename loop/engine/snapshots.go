package engine

import (
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/deeds"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/snapshots"
	"github.com/ralph-lsp/ralph-lsp/registry"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// beginSnapshots has the folder as it is before the first iteration looked at,
// while the loop prepares that.
func (l *runs) beginSnapshots() {
	options := l.cfg.Changes
	options.Skip = snapshots.OwnFiles(l.cfg.Folder, l.status().SessionFile, l.cfg.RecordDir, l.id, l.cfg.Said.Notes)
	options.Hidden = l.cfg.Sandbox.HiddenIn(l.cfg.Folder) // even without walls: a later loop may have them
	l.snapshots.Survey = func(text string) {
		l.inbox.Tell(func() {
			if now := l.state.Survey(text); now.State != "" {
				l.events.emit(now)
			}
		})
	}
	l.snapshots.Begin(l.id, options, l.host.Printed, l.diagnoseBefore, func() {
		_ = registry.Prune(l.cfg.History.Keep, l.cfg.History.MaxBytes, func(e registry.Entry) bool { return loop.Needs(e.Folder, e.LoopID) })
	})
}

// snapshotBefore makes sure that what an agent finds is in a snapshot.
func (l *runs) snapshotBefore() {
	iterations, hat := l.state.Base.Iterations, loop.HatOf(l.state.Known)
	if worn, _ := l.cfg.Role(hat); !worn.ReadOnly {
		hat = ""
	}
	l.inbox.Elsewhere(func() { l.snapshots.Before(iterations, hat) })
}

// noteProgress counts a run that brought nothing new, and warns in time.
func (l *runs) noteProgress(run setup.Run, r judge.Report) {
	worked := &l.state.Run.Deeds
	p := snapshots.Passage{
		Iteration: run.Iteration, Prompt: run.Prompt, Told: len(run.Guidance) > 0, Deeds: worked, Waited: worked.Waited,
		Outcome: r.Outcome, Hindered: r.Refused() || len(r.Exit.Result.Denials) > 0, Promised: r.Verdict.Matched, Checked: r.Checked,
	}
	if p.Promised && r.Checked && !r.Passed {
		p.Refutation = l.state.Proof.Refutation
	}
	if l.cfg.Worn(run.Turn.Hat.Name).Backend.Output == decode.FormatText { // nobody sees its tools
		p.Waited = r.Exit.Duration >= deeds.LongWork
	}
	if r.Handed > 0 {
		p.HandedBy = run.Turn.Hat.Name
	}
	was, limit := l.state.Counts.NoProgress, l.state.Status.Limits.MaxUnchanged
	n := l.snapshots.Count(was, p)
	if limit == 0 {
		n = 0
	}
	l.state.Counts.NoProgress = n
	if n > was && n == snapshots.ToldFrom(limit) && n < limit {
		l.events.warnf("%s: after %s the loop ends (--max-unchanged-iterations)", l.snapshots.Words(n), snapshots.InARow(limit))
	}
}
