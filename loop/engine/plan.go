package engine

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/inbox"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/tasks"
	"github.com/ralph-lsp/ralph-lsp/plan"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
	"github.com/ralph-lsp/ralph-lsp/verify"
)

const (
	// fromPlan is who asks about the plan, in the place of a run.
	fromPlan = "\x00plan"
	// maxLost is how often a loop asks about tasks that were taken out.
	maxLost = 8
)

// note changes what is remembered of the plan.
func (l *planning) note(change func(*plan.Book)) (now plan.Book) {
	change(&l.state.Tasks)
	return l.state.Tasks
}

// nothingNext reads the plan as its user has it now, and says why none of its tasks can be next; "" when one can, or
// when all are done and something is still wrong.
func (l *planning) nothingNext() string {
	if l.cfg.Said.Plan == "" {
		return ""
	}
	now, err := l.cfg.ReadPlan()
	if err != nil {
		return err.Error()
	}
	var mine []string // nothing was at work since the plan was looked at last: what is new there is the user's
	if len(l.plan.Items) > 0 {
		mine = slices.DeleteFunc(now.Commands(), func(c string) bool { return slices.Contains(l.plan.Commands(), c) })
	}
	if l.without != nil { // whose commands are an agent's
		now = l.write(now, l.without.With(now))
		l.without = nil
	}
	l.plan = now
	book := l.note(func(b *plan.Book) {
		b.Look(now)
		b.Accepted = append(slices.Clip(b.Accepted), mine...)
	})
	l.askCommands()
	if _, ok := book.NextOf(now); !ok && len(now.Open()) > 0 {
		return "nothing can be done of the plan: " + book.WhyNot(now).Error()
	}
	return ""
}

// giveTask gives the coming run its task, and to whom that names.
func (l *planning) giveTask(run *setup.Run) {
	if l.cfg.Said.Plan == "" {
		return
	}
	l.bench(run.Iteration).Give(run, l.cfg, l.plan)
}

// bench is what the loop judges tasks with.
func (l *planning) bench(iteration int) tasks.Bench {
	return tasks.Bench{
		Pass: func(check verify.Check, t tasks.Trial) (verify.Result, bool) {
			defer l.watchPlan() // what the check runs may have written to it
			return (&inspection{checks: l.checks, iteration: iteration, check: check, folder: t.Folder, own: t.Own}).Ask(verify.CommandGate, nil)
		},
		Timeout: l.cfg.Verify.Timeout, Accepts: l.isAccepted, Note: l.note,
		Warn: func(message string) { l.events.warn([]string{message}) },
	}
}

// settleCutOff finds out what a run did of the plan whose process was ended before it could.
func (l *planning) settleCutOff() {
	if l.state.Tasks.Judging && l.cfg.Said.Plan != "" {
		l.files.work(func() { l.settle(setup.Run{}, &judge.Report{NeverBegan: true}) })
	}
}

// endOfPlan ends the loop when no task is open, before another run is paid for.
func (l *engine) endOfPlan() (end loop.End, isOver bool) {
	if l.cfg.Said.Plan == "" || l.planning.nothingNext() != "" || len(l.planning.plan.Open()) > 0 {
		return end, false
	}
	r := judge.Report{Outcome: loop.OutcomeOK}
	if l.state.Verification.Refutation != "" || l.state.Wanted.Paused || l.state.Wanted.Cause != "" { // a run is told that
		return end, false
	}
	l.planning.promiseOfPlan(&r)
	if l.state.Verification.After(&r) {
		l.files.work(func() { l.checks.settle(&r, max(l.state.Base.Iterations, 1)); l.planning.watchPlan() })
	}
	return l.decide(r)
}

// promiseOfPlan has a run whose plan is done count as one that promised that.
func (l *planning) promiseOfPlan(r *judge.Report) {
	tasks := tell.Counted(len(l.plan.Tasks()), "task")
	r.Verdict = promises.Verdict{Matched: true, Promise: "all " + tasks + " of " + l.plan.Name}
	if one := l.plan.Chosen(); len(one) == 1 {
		r.Verdict.Promise = fmt.Sprintf("the task %q of %s", one[0].Text, l.plan.Name)
	}
	book := l.state.Tasks
	failed := func(it plan.Item) bool { return !slices.Contains(book.Passed, it.ID) }
	if passed := len(slices.DeleteFunc(l.plan.Tasks(), failed)); passed > 0 {
		r.Verified = fmt.Sprintf("%d of %s by their own checks", passed, tasks)
		all := verify.Check{Shell: strings.Join(l.plan.Commands(), " && ")}
		if r.Guards = l.checks.guardsOf(all); r.Guards != "" && passed < len(l.plan.Tasks()) {
			r.Guards += fmt.Sprintf(", for %d of %s", passed, tasks)
		}
	}
}

// settle finds out what a run did of the plan, and says what of that counts.
func (l *planning) settle(run setup.Run, r *judge.Report) {
	if l.cfg.Said.Plan == "" {
		return
	}
	l.watchPlan()
	left, name := l.plan.Data, l.plan.Name
	book, wrote := l.state.Tasks, slices.Clone(l.state.Run.Tools.Wrote)
	batch := l.batch
	l.batch = tasks.Outcome{}
	l.state.Verification.Tell(batch.Told)
	for _, it := range l.plan.All() {
		t := tasks.Trial{Item: it, IsTicked: l.plan.IsDone(it) && !slices.Contains(slices.Concat(book.Before, batch.Done), it.ID)}
		if isOwn := it.ID == run.TaskID && !l.plan.IsDone(it) && !r.Refused() && !r.NeverBegan; !t.IsTicked && !isOwn {
			continue
		}
		t.IsIdle = func() bool {
			return inbox.Found(&l.inbox, func() bool { return l.snapshots.OnlyChanged(name, run.Iteration, wrote) })
		}
		v, ok := l.bench(run.Iteration).Judge(t)
		if !ok {
			return // the loop is to end: this is still to be found out
		}
		if l.state.Verification.Tell(v.Told); v.IsDone != t.IsTicked {
			l.plan = l.write(l.plan, l.plan.Mark(it.ID, v.IsDone))
		}
	}
	if l.plan = l.write(l.plan, l.plan.Grouped()); run.Iteration > 0 && !bytes.Equal(l.plan.Data, left) {
		l.inbox.Elsewhere(func() { l.snapshots.After(run.Iteration) }) // what we wrote behind it is its work, too
	}
	l.note(func(b *plan.Book) {
		b.Look(l.plan)
		b.Before, b.Judging = nil, false
		for _, id := range batch.Alone {
			b.Isolate(id)
		}
	})
	switch open := len(l.plan.Open()); {
	case open == 0:
		l.promiseOfPlan(r)
	case r.Verdict.Matched:
		why := fmt.Sprintf("the agent says that all is done, but %s has %s", l.plan.Name, tell.Counted(open, "open task"))
		if l.goals.isNew("plan") {
			l.events.emit(loop.NearMiss{Found: r.Verdict.Promise, Why: why})
		}
		l.state.Promises.Next = "Of the last iteration: " + why + ". Do the next one."
		r.Verdict = promises.Verdict{}
	}
}

// write makes the plan's file what it is to be; what it says is what counts.
func (l *planning) write(was, want plan.Plan) plan.Plan {
	if err := setup.WritePlan(l.cfg.Folder, was, want); err != nil {
		l.events.warn([]string{"the plan can't be written: " + err.Error()})
		return was
	}
	return want
}

// watchPlan looks at what agents, or what they wrote, did to the plan: tasks that are gone are put back, and commands
// that are new wait for the user.
func (l *planning) watchPlan() {
	if l.cfg.Said.Plan == "" {
		return
	}
	now, err := l.cfg.ReadPlan()
	if err != nil {
		l.events.warn([]string{"the plan is put back as it was before the iteration: " + err.Error()})
		if len(l.plan.Items) > 0 {
			l.write(plan.Plan{}, l.plan) // what was known counts, even where it can't be written
		}
		return
	}
	lost := l.plan.Lost(now)
	if len(lost) == 0 {
		l.plan = now
		l.askCommands()
		return
	}
	l.plan = l.write(now, l.plan.With(now))
	out, names := tell.Counted(len(lost), "task")+" of "+now.Name, ""
	for _, it := range lost[:min(len(lost), maxLost)] {
		names += "\n- " + loop.OneLine(it.Text)
	}
	l.events.warn([]string{"the agent took out or changed " + out + ", which is put back as it was: " + lost[0].Text})
	if l.note(func(b *plan.Book) { b.Lost++ }).Lost <= maxLost {
		l.ask("lost", "may the agent take out or change "+out+"?", names, func() { l.without = &now })
	}
}

// askCommands asks for commands that the plan has got while an agent, or what it wrote, was at work.
func (l *planning) askCommands() {
	fresh := slices.DeleteFunc(l.plan.Commands(), l.isAccepted)
	fresh = fresh[:min(len(fresh), maxLost)] // no more than somebody reads
	if len(fresh) == 0 {
		l.desk.End(fromPlan + "commands")
		return
	}
	title := "may the loop run " + tell.Counted(len(fresh), "new check") + " of " + l.plan.Name + "?"
	l.ask("commands", title, "\n"+strings.Join(fresh, "\n"), func() {
		l.note(func(b *plan.Book) { b.Accepted = append(slices.Clip(b.Accepted), fresh...) })
	})
}

func (l *planning) isAccepted(command string) bool {
	return slices.Contains(l.state.Tasks.Accepted, command)
}

// ask asks the user about the plan, once. What was asked last of a kind is what is meant.
func (l *planning) ask(kind, title, detail string, yes func()) {
	detail = "The plan was changed so while a run was at work, maybe by the agent. Until you answer, it counts as it was before." + detail
	from := fromPlan + kind
	if slices.Contains(l.asked, title+detail) || len(l.asked) == 2*maxLost {
		return
	}
	l.asked = append(l.asked, title+detail)
	l.questions.askAgain(from, loop.OneLine(title), detail, yes)
}
