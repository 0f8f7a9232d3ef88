package engine

import (
	"fmt"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/deeds"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/snapshots"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// noteProgress counts a run that brought nothing new, and warns in time.
func (l *Loop) noteProgress(plan setup.Run, r judge.Report) {
	c := &l.snapshots.Circles
	p := snapshots.Passage{
		Iteration: plan.Iteration, Before: l.snapshots.Found, After: c.Now,
		Outcome: r.Outcome, Hindered: r.Refused() || len(r.Exit.Result.Denials) > 0, Promised: r.Verdict.Matched,
		ByUser: c.ByUser || len(plan.Guidance) > 0 || c.Prompt != "" && c.Prompt != plan.Prompt,
	}
	c.ByUser, c.Prompt = false, plan.Prompt
	var now progress.State
	l.look(func(p *progress.State) { now = *p })
	if p.Promised && r.Checked && !r.Passed {
		p.Refutation = now.Proof.Refutation
	}
	p.Waited, c.Stuck = now.Deeds.Waited, now.Deeds.StuckText()
	if l.cfg.Worn(plan.Turn.Hat.Name).Backend.Output == decode.FormatText { // nobody sees its tools
		p.Waited = r.Exit.Duration >= deeds.LongWork
	}
	p.Waited = p.Waited || r.Handed > 0 && c.IsFirst(plan.Turn.Hat.Name) // who hands over waits for others
	p.Beyond = func() bool { return l.snapshots.WroteBeyond(now.Deeds.Wrote) }
	if r.Checked {
		l.snapshots.Last = time.Time{} // what the check wrote is no run's work
	}
	was, limit := now.Counts.NoProgress, now.Status.Limits.MaxUnchanged
	n := c.Count(was, p)
	if limit == 0 {
		n = 0
	}
	l.change(func(p *progress.State) { p.Counts.NoProgress = n })
	if n > was && n == snapshots.ToldFrom(limit) && n < limit {
		l.emit(loop.Warning{Message: fmt.Sprintf("%s: after %s the loop ends (--max-unchanged-iterations)", c.Words(n), snapshots.InARow(limit))})
	}
}
