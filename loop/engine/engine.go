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
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/snapshots"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/registry"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/worktree"
)

// run is the loop's goroutine: iterations until a reason to stop.
func (l *Loop) run() {
	defer l.inbox.Close()
	l.beginSnapshots()
	ctx, cancel := context.WithCancel(context.Background())
	edits, err := l.store.Watch(ctx)
	if err != nil {
		l.emit(loop.Warning{Message: "the state file can't be watched, so edits count only between iterations: " + err.Error()})
	}
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		for range edits {
			l.readFile()
		}
	}()
	keeping := make(chan struct{})
	go func() {
		defer close(keeping)
		l.keepBooks(ctx)
	}()
	_ = registry.Begin(l.entry()) // the end tells what can't be kept
	l.kept(func(s setup.Session) { s.Begin(l.Status()) })
	l.warnAtStart()
	end := l.iterate()
	l.desk.Moot(func(ask.Call) bool { return true })
	end.Changes = l.snapshots.Close()
	l.state.Look(func(p *progress.State) { end.AccountFor(p.Known.Prompt, p.Tasks, p.Met) })
	// From here on nobody else writes the record or reads the file: what finish leaves there is the last word.
	cancel()
	<-keeping
	if edits != nil {
		<-watching
	}
	l.finish(end)
}

// iterate runs iterations until the loop ends, and says why it did.
func (l *Loop) iterate() loop.End {
	var end loop.End
	var isOver bool
	// A loop that was cut off while its promise was verified owes that first: another run would cost money.
	if l.work(func() { end, isOver = l.verifyFirst() }); isOver {
		return end
	}
	l.settleCutOff()
	if left := l.cfg.LeftWaiting(l.state.Now().Known); left != nil {
		l.wait(left.Reason, left.Attempt, left.ResumeAt)
	}
	for {
		// A loop that runs once asks behind its iteration: the program that called it has let it begin, and no user is
		// waited for there.
		if !l.cfg.Once {
			l.awaitBudget()
			awaitAccount(l)
		}
		if end, isOver := endOfPlan(l); isOver {
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
		l.work(func() { r = l.runAndVerify(run) })
		// An end comes before a pause, a departure and a wait: who is told to go on must find something to do.
		if end, ok := l.decide(r); ok {
			return end
		}
		counts := l.state.Now().Counts
		l.minUnknownCost(run.Iteration)
		if l.cfg.Once {
			l.awaitBudget()
		}
		if l.cfg.Once || l.departure.wanted.Load() {
			if end := l.handOn(r, counts); !l.stays(end) {
				return end
			}
			continue
		}
		l.waitAfter(r, counts)
	}
}

// runAndVerify is an iteration, and what is to be found out of what it did.
func (l *Loop) runAndVerify(run setup.Run) judge.Report {
	r := l.runOnce(run)
	shareLimit(l, r)
	r.Handed = l.countHanded(run.Turn, r)
	// The run's cost counts before the gates: a reviewer among them spends from what is left.
	l.state.Change(func(p *progress.State) { p.Account(r) })
	l.settle(run, &r)
	l.handOver(run.Turn, &r)
	if l.mustVerify(&r) {
		l.prove(&r, run.Iteration)
	}
	l.watchPlan()
	// Last, as a promise that is refuted with the same output as the one before is no progress, whatever it changed.
	l.noteProgress(run, r)
	return r
}

// decide ends the loop if what a run came to is a reason.
func (l *Loop) decide(r judge.Report) (loop.End, bool) {
	cause := l.causeOf(r)
	return l.conclude(r, func() loop.StopReason {
		now := l.state.Now()
		return judge.Decide(r, cause, now.Counts, now.Base, l.cfg.Verify, now.Status.Limits)
	})
}

// conclude ends the loop if there is a reason. A change by the user comes before that
// and counts, or is refused (see edit): none is taken and then lost.
func (l *Loop) conclude(r judge.Report, reason func() loop.StopReason) (loop.End, bool) {
	l.fileMu.Lock()
	defer l.fileMu.Unlock()
	why := reason()
	if why == "" {
		return loop.End{}, false
	}
	l.state.Change(func(p *progress.State) { p.Concluded = true })
	l.setOwner()
	return l.endOf(why, r), true
}

// still is why, or "" for a limit that the user has raised since it was reached.
func (l *Loop) still(why loop.StopReason) loop.StopReason {
	if why.Capped() {
		why, _ = l.mustStop()
	}
	return why
}

// nextRun prepares the next iteration. What this machine is short of for a
// moment is waited for; the last resort leaves a loop that can be continued.
func (l *Loop) nextRun() (setup.Run, loop.StopReason, error) {
	for attempt := 1; ; attempt++ {
		run, why, err := l.tryNextRun()
		if why != loop.StopBadStateFile || loopstate.Shortage(err) == "" {
			return run, why, err
		}
		if err = loopstate.Advised(err); attempt > judge.ShortageTries {
			return run, loop.StopFailures, err
		}
		if attempt == 1 {
			l.emit(loop.Warning{Message: err.Error() + "; the loop tries again"})
		}
		now := time.Now()
		l.waitAtCost(loop.WaitResources, attempt, now.Add(judge.ShortagePause.After(attempt)), now)
		if why, _ := l.mustStop(); why != "" {
			return run, why, nil
		}
	}
}

// mustStop says why no other iteration may begin, and whether one has to wait
// until the user goes on.
func (l *ground) mustStop() (why loop.StopReason, paused bool) {
	now := l.state.Now()
	switch {
	case now.Cause != "":
		return now.Cause, false
	case now.LastRun:
		return loop.StopCancelled, false
	}
	// A limit before a pause, or a paused loop would show one that can't go on as one that waits for its user.
	if why = judge.Reached(now.Base, now.Status.Limits); why == "" && l.departure.wanted.Load() {
		why = loop.StopDetached
	}
	return why, now.Paused
}

// tryNextRun prepares the next iteration: the state file is read, as the user
// may have changed it, pauses are kept, caps looked at, and the file is written.
func (l *Loop) tryNextRun() (setup.Run, loop.StopReason, error) {
	for {
		var isRead bool
		var err error
		if l.state.Change(func(p *progress.State) { isRead, p.IsRead = p.IsRead, false }); !isRead {
			err = l.readFile()
		}
		isSyntax := errors.As(err, new(*loopstate.SyntaxError)) // of a slow save, maybe: the claim has more patience
		if err != nil && !isSyntax && !errors.Is(err, fs.ErrNotExist) {
			return setup.Run{}, loop.StopBadStateFile, err
		}
		why, paused := l.mustStop()
		if why != "" {
			return setup.Run{}, why, nil
		}
		if !paused {
			break
		}
		l.enterPause()
		l.rest(func() (isOver bool) {
			why, paused := l.mustStop()
			return why != "" || !paused
		})
	}
	if why := cmp.Or(l.nobodysTurn(), l.nothingNext()); why != "" {
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
func (l *Loop) claim() (setup.Run, error) {
	l.fileMu.Lock()
	defer l.fileMu.Unlock()
	var run setup.Run
	var texts, next, warnings []string
	l.setUnderWay(true)
	state, err := l.saveBy(l.store.Claim, func(s *loopstate.State) {
		run.Turn, warnings, _ = l.nextTurn(s)
		s.ResumeAt = time.Time{}
		// Guidance is moved and not removed: a run that doesn't count, or a crash, has it told again.
		texts, s.Guidance = s.Guidance, nil
		next, s.GuidanceNext = s.GuidanceNext, nil
		s.Guided = slices.Concat(s.Guided, texts, next)
	})
	if err != nil {
		l.setUnderWay(false)
		return run, err
	}
	var fresh []loop.Guidance
	l.learnGuidance(texts, next)
	l.state.Change(func(p *progress.State) { fresh = p.Talk.Take() })
	l.learn(state, loop.ByFile)
	l.warn(warnings)
	l.lookAtPrompt(state.Prompt)
	if run.Notes, err = l.cfg.NotesFor(l.scope.TempDir); err != nil {
		l.warn([]string{"the notes can't be read: " + err.Error()})
	}
	run.Iteration, run.Prompt, run.Promise = state.Iteration, state.Prompt, state.CompletionPromise
	l.state.Change(func(p *progress.State) {
		p.Skip = false
		run.Guidance, run.Refutation = p.Talk.Give(fresh), p.Proof.Refutation
		run.Standing = loop.StandingBut(state.Standing, run.Guidance)
		run.Missed = p.Promises.Next
		run.Limits = p.Status.Limits
		run.Circles = l.snapshots.Circles.Rule(p.Counts.NoProgress, run.Limits.MaxUnchanged)
		run.Budget, run.IsUsers = p.Left(), p.Purse.Limits.IsSet() && p.LeftOfBudget() <= p.Left()
	})
	l.giveTask(&run)
	return run, nil
}

// runOnce runs one agent to its end.
func (l *Loop) runOnce(run setup.Run) judge.Report {
	l.openIteration(run)
	l.shift.Ran, l.account = -1, ""
	r, err := l.execute(run)
	if err != nil {
		r = judge.Report{Outcome: loop.OutcomeError, Problem: err.Error(), NeverBegan: true, Unstartable: true}
	}
	if r.Unfit = l.shift.Ran > 0 && r.NeverBegan && !r.Refused(); r.Unfit {
		r.Nobody, r.Unstartable = false, false // which end a loop: its own agent is there
	}
	r.BlameNetwork(l.state.Now().Counts)
	r.BlameSleep(time.Since(l.exec.Activity.Woke()))
	l.closeIteration(run, r)
	return r
}

// execute has agents do an iteration's work. An error means that the first could not be started.
func (l *Loop) execute(run setup.Run) (judge.Report, error) {
	if len(run.Batch) > 0 {
		return l.runBatch(run)
	}
	work := executor.Work{Config: &l.cfg, Run: run}
	if len(l.cfg.Steps) == 0 {
		cfg := l.relieved(l.cfg.Worn(run.Turn.Hat.Name))
		if work.Config, work.Solo = &cfg, !run.Turn.IsWave(); work.Solo {
			l.account = cfg.Account()
		} else {
			work.Config, work.Apart = cfg.WaveOf(run.Turn), run.EachTopic()
		}
	}
	l.snapshotBefore()
	if err := l.snapshots.MayOnlyRead(run.Turn.Hat); err != nil {
		return judge.Report{}, err
	}
	done, err := l.exec.Execute(work)
	l.endConversation()
	return done.Report, err
}

// openIteration tells everybody that an iteration begins.
func (l *Loop) openIteration(run setup.Run) {
	now := time.Now()
	l.exec.Activity.Touch()
	l.snapshots.Commits = worktree.Commits(l.cfg.Folder)
	var spent stream.Cost
	l.state.Change(func(p *progress.State) {
		p.Begin(run.Iteration, run.Turn.Hat, l.cfg.HandsOver(), now)
		spent = p.Base.Cost
	})
	_ = registry.Set(l.entry()) // with the iteration, should nobody be left to tell the end
	l.setState(loop.StateChanged{State: loop.StateRunning}, nil)
	l.emit(loop.IterationStart{Iteration: run.Iteration, MaxIterations: run.Limits.MaxIterations, Spent: spent,
		Hat: run.Turn.Hat.Name, Topic: run.Turn.Head(), Task: run.TaskText})
	l.tellGoal()
	l.give(run)
}

// closeIteration tells everybody how an iteration went.
func (l *Loop) closeIteration(run setup.Run, r judge.Report) {
	res := r.Exit.Result
	l.state.Change(func(p *progress.State) { p.End(r.Problem) })
	l.setOwner()
	if r.Exit.Survivor != nil {
		l.emit(loop.Warning{Message: r.Exit.Survivor.Error()})
	}
	l.refused.Add(l.walls.Observed()) // before git is asked anything
	// What a reader wrote is in the snapshot before it is undone, so it can be had back, and not in the commit.
	changed := l.snapshots.After(run.Iteration)
	undone := l.snapshots.UndoReading(l.reading(run), changed)
	l.snapshots.CommitIteration(run.Iteration, l.Status().Title, res.Text)
	l.emit(loop.IterationEnd{
		Iteration: run.Iteration, Hat: run.Turn.Hat.Name, Outcome: r.Outcome, Duration: r.Exit.Duration,
		Cost: res.Usage.Cost, Tokens: res.Usage.Tokens, Turns: res.Turns, ToolCalls: res.ToolCalls,
		Text: res.Text, Error: r.Problem, Skipped: res.SkippedLines,
		Changes: changed, Denials: res.Denials, Commits: l.snapshots.Commits(),
	})
	l.warn(append(undone, l.refused.Take()...))
	if res.Ignored != "" && !l.ignored {
		l.ignored = true
		l.warn([]string{res.Ignored})
	}
	l.tellNearMiss(r)
}

// reading is a run, as far as that matters where it was to read only.
func (l *runs) reading(run setup.Run) snapshots.Reading {
	r := snapshots.Reading{Iteration: run.Iteration, Hat: run.Turn.Hat, Agent: l.cfg.Worn(run.Turn.Hat.Name).Backend}
	l.state.Look(func(p *progress.State) { r.Begun, r.Work = p.Status.IterationStartedAt, slices.Clone(p.Deeds.Work) })
	return r
}

// causeOf is why the loop is to end, or why the run was ended.
func (l *ground) causeOf(r judge.Report) (why loop.StopReason) {
	if why = cmp.Or(l.state.Now().Cause, r.Cause); why == judge.Skipped || why == judge.StopSpent {
		return ""
	}
	return why
}
