package engine

import (
	"errors"
	"path/filepath"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/executor"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/tasks"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
)

// runBatch does tasks of the plan side by side, and brings what is done into the folder.
func (l *planning) runBatch(run setup.Run) (judge.Report, error) {
	l.runs.snapshotBefore()
	b := &tasks.Batch{
		Checker: l.tasks.Checker(l, run.Iteration), Guards: l.walls.Guards, Snapshots: &l.snapshots,
		Config: &l.cfg, Run: run, Plan: l.tasks.Plan(),
		Elsewhere: l.inbox.Elsewhere, Dir: filepath.Join(l.scope.TempDir, "workers"),
		Prepare: func(command, dir string) error {
			out := &verify.Output{}
			check := verify.Check{Shell: command, Timeout: l.cfg.Verification.Check.Timeout}
			by := &inspection{checks: l.checks, iteration: run.Iteration, check: check, folder: dir, own: dir}
			if r := out.Judge(by.run(out)); r.State != verify.Verified {
				return errors.New(command + " " + r.Why)
			}
			return nil
		},
	}
	defer b.Close()
	if err := b.Open(); err != nil {
		return judge.Report{Outcome: loop.OutcomeError, Problem: loop.OneLine(err.Error()), NeverBegan: true}, nil
	}
	cfg, runs := b.ParallelRun(l.runs.agentFor(l.cfg.WithHat(l.cfg.Hat), false))
	done, err := l.exec.Execute(executor.Work{Config: &cfg, Run: run, Apart: runs})
	l.conversation.end()
	l.tasks.Landed(l, b.Land(done.HasEndedWell))
	l.state.Run.Tools.Wrote = nil // files in the checkouts are nothing new by themselves
	return done.Report, err
}
