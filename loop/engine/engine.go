package engine

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/executor"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/snapshots"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/steering"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// run is the loop's goroutine: iterations until a reason to stop.
func (l *engine) run() {
	defer l.inbox.Close()
	l.runs.beginSnapshots()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	edits, err := l.store.Watch(ctx)
	if err != nil {
		l.events.emit(loop.Warning{Message: "the state file can't be watched, so edits count only between iterations: " + err.Error()})
	}
	go func() {
		for range edits {
			l.inbox.Tell(l.files.edited)
		}
	}()
	l.inbox.Elsewhere(func() { _, _ = l.spending.countBudget() }) // an uncountable budget keeps the first iteration from beginning
	l.events.kept(func(s setup.Session) { s.Begin(l.status()) })
	l.warnAtStart()
	end := l.iterate()
	l.pending.Withdraw(func(ask.Call) bool { return true })
	l.inbox.Elsewhere(func() { end.Changes = l.snapshots.Close() })
	end.AccountFor(l.state.LastRead.Prompt, l.state.Tasks, l.state.Totals)
	l.finish(end)
}

// iterate runs iterations until the loop ends, and says why it did.
func (l *engine) iterate() loop.End {
	var end loop.End
	var isOver bool
	// A loop that was cut off while its promise was verified owes that first: another run would cost money.
	if l.files.work(func() { end, isOver = l.verifyFirst() }); isOver {
		return end
	}
	l.settleCutOff()
	for {
		// A loop that runs once asks behind its iteration: the program that called it has let it begin, and no user is
		// waited for there.
		if !l.cfg.Once {
			l.spending.awaitBudget()
			l.awaitAccount()
		}
		if end, isOver := l.endOfPlan(); isOver {
			return end
		}
		run, why, err := l.nextRun()
		if why != "" {
			if end, ok := l.conclude(judge.Report{Problem: loop.ErrText(err)}, func() loop.StopReason { return l.still(why) }); ok {
				return end
			}
			continue
		}
		var r judge.Report
		l.files.work(func() { r = l.runAndVerify(run) })
		// An end comes before a pause, a departure and a wait: a user who is told to go on must find something to
		// do.
		if end, ok := l.decide(r); ok {
			return end
		}
		counts := l.state.Counts
		l.spending.minUnknownCost(run.Iteration)
		if l.cfg.Once {
			l.spending.awaitBudget()
		}
		if l.cfg.Once {
			if end := l.handOn(r, counts); !l.waits.stays(end) {
				return end
			}
			continue
		}
		l.waitAfter(r, counts)
	}
}

// runAndVerify is an iteration, and what is to be found out of what it did.
func (l *engine) runAndVerify(run setup.Run) judge.Report {
	r := l.runOnce(run)
	r.Handed = l.hats.After(l.state.LastRead.Queue, run.Turn.Hat, r.Ended)
	// The run's cost counts before the gates: a reviewer among them spends from what is left.
	l.state.Account(r)
	l.record.publish()
	l.tasks.Settle(&l.planning, run, &r)
	l.handOver(run.Turn, &r)
	if l.state.Verification.After(&r) {
		l.checks.settle(&r, run.Iteration)
	}
	l.tasks.Watch(&l.planning)
	// Last: a promise that is refuted with the same output as the one before is no progress, whatever the run
	// changed.
	l.runs.noteProgress(run, r)
	return r
}

// decide ends the loop if what a run came to is a reason.
func (l *engine) decide(r judge.Report) (loop.End, bool) {
	return l.conclude(r, func() loop.StopReason {
		return judge.Decide(r, l.ending.causeOf(r), l.state.Counts, l.state.SpentBefore, l.cfg.Verification.Check, l.state.Status.Limits)
	})
}

// conclude ends the loop if there is a reason. A change by the user comes before that and counts, or is refused (see
// edit): none is accepted and then lost. From then on only finish writes the record and the file.
func (l *engine) conclude(r judge.Report, reason func() loop.StopReason) (loop.End, bool) {
	l.files.queue.Rest()
	why := reason()
	if why == "" {
		return loop.End{}, false
	}
	l.state.Concluded = true
	l.record.stands()
	return l.endOf(why, r), true
}

// still is why, or "" for a limit that the user has raised since it was reached.
func (l *engine) still(why loop.StopReason) loop.StopReason {
	if why.Capped() {
		why, _ = l.ending.mustStop()
	}
	return why
}

// nextRun prepares the next iteration. It waits while this machine is short of something for a moment; in the end it
// leaves a loop that can be continued.
func (l *engine) nextRun() (setup.Run, loop.StopReason, error) {
	for attempt := 1; ; attempt++ {
		run, why, err := l.tryNextRun()
		if why != loop.StopBadStateFile || loopstate.Shortage(err) == "" {
			return run, why, err
		}
		if err = loopstate.Advised(err); attempt > judge.ShortageTries {
			return run, loop.StopFailures, err
		}
		if attempt == 1 {
			l.events.emit(loop.Warning{Message: err.Error() + "; the loop tries again"})
		}
		now := time.Now()
		l.waits.waitAtCost(loop.WaitResources, attempt, now.Add(judge.ShortagePause.After(attempt)), now)
		if why, _ := l.ending.mustStop(); why != "" {
			return run, why, nil
		}
	}
}

// mustStop says why no other iteration may begin, and whether one has to wait
// until the user goes on.
func (l *ending) mustStop() (why loop.StopReason, paused bool) {
	switch {
	case l.state.Wanted.Cause != "":
		return l.state.Wanted.Cause, false
	case l.state.Wanted.LastRun:
		return loop.StopCancelled, false
	}
	// A limit before a pause, or a paused loop would show one that can't go on as one that waits for its user.
	return judge.Reached(l.state.SpentBefore, l.state.Status.Limits), l.state.Wanted.Paused
}

// tryNextRun prepares the next iteration: the state file is read, as the user
// may have changed it, pauses are kept, caps looked at, and the file is written.
func (l *engine) tryNextRun() (setup.Run, loop.StopReason, error) {
	for {
		var err error
		if !l.state.IsRead {
			err = l.files.readFile()
		}
		l.state.IsRead = false
		isSyntax := errors.As(err, new(*loopstate.SyntaxError)) // of a slow save, maybe: the claim has more patience
		if err != nil && !isSyntax && !errors.Is(err, fs.ErrNotExist) {
			return setup.Run{}, loop.StopBadStateFile, err
		}
		why, paused := l.ending.mustStop()
		if why != "" {
			return setup.Run{}, why, nil
		}
		if !paused {
			break
		}
		l.waits.enterPause()
		l.ending.rest(func() (isOver bool) {
			why, paused := l.ending.mustStop()
			return why != "" || !paused
		})
	}
	if why := cmp.Or(l.hats.Before(l.state.LastRead.Queue), l.tasks.Before(&l.planning)); why != "" {
		return setup.Run{}, loop.StopNoProgress, errors.New(why)
	}
	run, err := l.claim()
	if errors.Is(err, fs.ErrNotExist) {
		return run, loop.StopStateRemoved, nil
	}
	if err != nil {
		return run, loop.StopBadStateFile, err
	}
	return run, "", nil
}

// claim writes the coming iteration into the state file and takes the prompt
// and the guidance from it in the same step.
func (l *engine) claim() (run setup.Run, err error) {
	var texts, next, warnings []string
	l.state.UnderWay = true
	l.files.saveBy(l.store.Claim, func(s *loopstate.State) {
		run.Turn, warnings = l.nextTurn(s)
		s.ResumeAt = time.Time{}
		texts, next = steering.Move(s)
	}, func(state loopstate.State, failed error) {
		if err = failed; err != nil {
			l.state.UnderWay = false
			return
		}
		l.state.Steering.Take(texts, next)
		l.files.learn(state, loop.ByFile)
		run.Iteration, run.Prompt, run.Promise = state.Iteration, state.Prompt, state.CompletionPromise()
	})
	if err != nil {
		return run, err
	}
	l.events.warn(warnings)
	l.events.lookAtPrompt(run.Prompt)
	var problem error
	if l.inbox.Elsewhere(func() { run.Notes, problem = l.cfg.NotesFor(l.scope.TempDir) }); problem != nil {
		l.events.warn([]string{"the notes can't be read: " + problem.Error()})
	}
	l.state.Wanted.Skip = false
	run.Steering, run.Refutation = l.state.Steering.Given(), l.state.Verification.Refutation
	run.Standing = loop.StandingBut(l.state.LastRead.Standing, run.Steering)
	run.Missed = l.goal.Next
	run.Limits = l.state.Status.Limits
	run.Stagnation = l.stagnation.Message(l.state.Counts.NoProgress, run.Limits.MaxUnchanged)
	run.Budget, run.IsUsers = l.state.Left(), l.state.Budget.Limits.IsSet() && l.state.LeftOfBudget() <= l.state.Left()
	l.tasks.Take(&l.planning, &run)
	return run, nil
}

// runOnce runs one agent to its end.
func (l *engine) runOnce(run setup.Run) judge.Report {
	l.openIteration(run)
	l.fallback.Begin()
	r, err := l.execute(run)
	if err != nil {
		r = judge.Report{Outcome: loop.OutcomeError, Problem: err.Error(), NeverBegan: true, Unstartable: true}
	}
	l.fallback.After(&r)
	r.BlameNetwork(l.state.Counts)
	r.BlameSleep(time.Since(l.exec.Activity.Woke()))
	l.closeIteration(run, r)
	return r
}

// execute has agents do an iteration's work. An error means that the first could not be started.
func (l *engine) execute(run setup.Run) (judge.Report, error) {
	if len(run.Batch) > 0 {
		return l.planning.runBatch(run)
	}
	work := executor.Work{Config: &l.cfg, Run: run}
	if len(l.cfg.Roles.Steps) == 0 {
		work.Solo = !run.Turn.IsWave()
		cfg := l.runs.agentFor(l.cfg.WithHat(run.Turn.Hat.Name), work.Solo)
		if work.Config = &cfg; !work.Solo {
			work.Config, work.Apart = cfg.WaveOf(run.Turn), run.EachTopic()
		}
	}
	l.runs.snapshotBefore()
	if err := l.snapshots.MayOnlyRead(run.Turn.Hat); err != nil {
		return judge.Report{}, err
	}
	done, err := l.exec.Execute(work)
	l.conversation.end()
	return done.Report, err
}

// agentFor is the configuration of a run, by a fallback where the loop's own agent is limited.
func (l *runs) agentFor(cfg setup.Config, isSolo bool) setup.Config {
	cfg, news := l.fallback.Agent(cfg, isSolo, time.Now())
	if news != "" {
		l.events.emit(loop.Warning{Message: news})
		l.state.Status.Session = stream.SessionStart{Backend: cfg.Backend.Name, Model: cfg.Model}
	}
	return cfg
}

// openIteration tells everybody that an iteration begins.
func (l *engine) openIteration(run setup.Run) {
	now := time.Now()
	l.exec.Activity.Touch()
	l.inbox.Elsewhere(func() { l.snapshots.Commits = worktree.Commits(l.cfg.Folder) })
	l.state.Begin(run.Iteration, run.Turn.Hat, l.cfg.Roles.HatsEmit(), now)
	l.record.stands()
	l.events.setState(loop.StateChanged{State: loop.StateRunning}, nil)
	l.events.emit(loop.IterationStart{Iteration: run.Iteration, MaxIterations: run.Limits.MaxIterations, Spent: l.state.SpentBefore.Cost,
		Hat: run.Turn.Hat.Name, Topic: run.Turn.Head(), Task: run.TaskText})
	if goal, ok := l.goal.Goal(l.status()); ok {
		l.events.emit(goal)
	}
	l.give(run)
}

// closeIteration tells everybody how an iteration went.
func (l *engine) closeIteration(run setup.Run, r judge.Report) {
	res := r.Exit.Result
	l.state.End(r.Problem)
	l.record.stands()
	if r.Exit.Survivor != nil {
		l.events.emit(loop.Warning{Message: r.Exit.Survivor.Error()})
	}
	l.runs.refused.Add(l.walls.Observed()) // before git is asked anything
	// A read-only run's writes are in the snapshot before they are undone, so they can be restored; they are never
	// committed.
	reading, title := l.runs.reading(run), l.status().Title
	var changed *changes.Summary
	var undone, commits []string
	l.inbox.Elsewhere(func() {
		changed = l.snapshots.After(run.Iteration)
		undone = l.snapshots.UndoReading(reading, changed)
		l.snapshots.CommitIteration(run.Iteration, title, res.Text)
		commits = l.snapshots.Commits()
	})
	l.events.emit(loop.IterationEnd{
		Iteration: run.Iteration, Hat: run.Turn.Hat.Name, Task: run.TaskText, Outcome: r.Outcome, Duration: stream.Duration(r.Exit.Duration),
		Cost: res.Usage.Cost, Tokens: res.Usage.Tokens, Turns: res.Turns, ToolCalls: res.ToolCalls,
		Text: res.Text, Error: r.Problem, Skipped: res.SkippedLines,
		Changes: changed, Denials: res.Denials, Commits: commits,
	})
	l.events.warn(append(undone, l.runs.refused.Take()...))
	if res.Ignored != "" && !l.runs.ignored {
		l.runs.ignored = true
		l.events.warn([]string{res.Ignored})
	}
	l.events.tellNearMiss(r)
}

// reading is a run, as far as that matters where it was to read only.
func (l *runs) reading(run setup.Run) snapshots.Reading {
	r := snapshots.Reading{Iteration: run.Iteration, Hat: run.Turn.Hat, Agent: l.cfg.WithHat(run.Turn.Hat.Name).Backend}
	r.Begun, r.Work = l.state.Status.IterationStartedAt, slices.Clone(l.state.Run.Tools.Work)
	return r
}

// causeOf is why the loop is to end, or why the run was ended.
func (l *ending) causeOf(r judge.Report) (why loop.StopReason) {
	if why = cmp.Or(l.state.Wanted.Cause, r.Cause); why == judge.Skipped || why == judge.StopSpent {
		return ""
	}
	return why
}
