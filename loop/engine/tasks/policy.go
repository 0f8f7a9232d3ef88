package tasks

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/rules"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/plan"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// Policy is about the plan of one loop: which task a run does, which tasks are done, and what an agent may do to the
// plan. Its zero value, of a loop without a plan, wants nothing. It is for one goroutine.
type Policy struct {
	cfg     *setup.Config
	book    *plan.Book // of the loop's record
	plan    plan.Plan  // as the run under way found it, or left it
	asked   []string   // of the user
	landed  Outcome    // of the run that is over, until it is settled
	without *plan.Plan // tasks that the user lets the agent take out of it
}

// New is the policy of a loop. book is what its record has of the plan.
func New(cfg *setup.Config, book *plan.Book) Policy { return Policy{cfg: cfg, book: book} }

// Host is the loop, as the policy of its plan needs it.
type Host interface {
	// Check runs a task's check. It isn't ok when the loop is to end before that has told anything.
	Check(iteration int, check verify.Check, t Candidate) (r verify.Result, ok bool)
	// OnlyChanged says whether it is known that an iteration changed nothing but one file.
	OnlyChanged(name string, iteration int) bool
	// Wrote says that the plan was written behind an iteration: that is its work, too.
	Wrote(iteration int)
	// Guards names what a check is verified by and the loop changed, "" for nothing.
	Guards(verify.Check) string
	// Ask asks the user something, in the place of what was asked of this kind before. yes does what they agree to.
	Ask(kind, title, detail string, yes func())
	Withdraw(kind string)
	// TooEarly says why a promise doesn't count that came before all tasks were done.
	TooEarly(promise, why string)
	Tell(text string) // to the next run
	Warn(text string)
}

// The questions to the user.
const (
	askLost     = "lost"
	askCommands = "commands"
	// maxLost is how often a loop asks about tasks that were taken out, and how many it names.
	maxLost = 8
)

// IsOn says whether the loop has a plan.
func (p *Policy) IsOn() bool { return p.cfg != nil && p.cfg.Values.Plan != "" }

// IsOwed says whether a run is still to be settled whose process was ended before it could be.
func (p *Policy) IsOwed() bool { return p.IsOn() && p.book.Judging }

// IsDone says whether no task is open.
func (p *Policy) IsDone() bool { return len(p.plan.Open()) == 0 }

// Plan is the plan as it was looked at last.
func (p *Policy) Plan() plan.Plan { return p.plan }

// Before reads the plan as its user has it now, and says why none of its tasks can be next; "" when one can, or when all are
// done and something is still wrong.
func (p *Policy) Before(h Host) string {
	if !p.IsOn() {
		return ""
	}
	now, err := p.cfg.ReadPlan()
	if err != nil {
		return err.Error()
	}
	var mine []string // nothing was at work since the last look at the plan: new items are the user's
	if len(p.plan.Items) > 0 {
		mine = slices.DeleteFunc(now.Commands(), func(c string) bool { return slices.Contains(p.plan.Commands(), c) })
	}
	if p.without != nil { // whose commands are an agent's
		now = p.write(h, now, p.without.With(now))
		p.without = nil
	}
	p.plan = now
	p.book.Look(now)
	p.book.Accepted = append(slices.Clip(p.book.Accepted), mine...)
	p.askCommands(h)
	if _, ok := p.book.NextOf(now); !ok && !p.IsDone() {
		return "nothing can be done of the plan: " + p.book.WhyNot(now).Error()
	}
	return ""
}

// Take gives the coming run the next task of the plan, or several side by side, and the agent that a task names.
func (p *Policy) Take(h Host, run *setup.Run) {
	if !p.IsOn() {
		return
	}
	c := p.cfg
	batch := p.book.Batch(p.plan, c.Values.Workers, func(it plan.Item) bool {
		role, _ := c.Roles.Named(it.Agent)
		return slices.Contains(p.book.Alone, it.ID) || role.ReadOnly || role.Timeout > 0 // which are a run's
	})
	run.TaskText = plan.TextOf(batch)
	for _, it := range batch {
		switch role, ok := c.Roles.Named(it.Agent); {
		case ok && !c.Roles.HatsEmit() && len(batch) == 1:
			run.Turn.Hat = role.Hat
		case (!ok || c.Roles.HatsEmit()) && it.Agent != "":
			h.Warn(fmt.Sprintf("the task %q is for the agent %s, which this loop doesn't have: its own does it", it.Text, it.Agent))
		}
	}
	for _, r := range p.book.Begin(p.plan, batch) {
		h.Warn("a task is set aside until no other is open, and has one more try then: " + r.String())
	}
	if len(batch) > 1 {
		run.Batch = batch
		return
	}
	it := slices.Concat(batch, []plan.Item{{}})[0] // none is open any more, maybe
	run.TaskID, run.Task = it.ID, rules.Task(p.plan, it, it.Verify != "" && p.accepts(it.Verify), false)
}

// Landed takes down what became of tasks that a run did side by side, and marks those that are done.
func (p *Policy) Landed(h Host, o Outcome) {
	p.landed = o
	p.Watch(h)                  // its user may have written to it
	for _, id := range o.Done { // now, so that it is the iteration's
		p.plan = p.write(h, p.plan, p.plan.Mark(id, true))
	}
}

// Settle finds out what a run did of the plan, and says what of that counts.
func (p *Policy) Settle(h Host, run setup.Run, r *judge.Report) {
	if !p.IsOn() {
		return
	}
	p.Watch(h)
	left, landed, before := p.plan.Data, p.landed, p.book.Before
	p.landed = Outcome{}
	h.Tell(landed.Told)
	for _, it := range p.plan.All() {
		t := Candidate{Item: it, IsTicked: p.plan.IsDone(it) && !slices.Contains(slices.Concat(before, landed.Done), it.ID)}
		if isOwn := it.ID == run.TaskID && !p.plan.IsDone(it) && !r.Refused() && !r.NeverBegan; !t.IsTicked && !isOwn {
			continue
		}
		t.IsIdle = func() bool { return h.OnlyChanged(p.plan.Name, run.Iteration) }
		v, ok := p.Checker(h, run.Iteration).Judge(t)
		if !ok {
			return // the loop is to end: this is still to be found out
		}
		if h.Tell(v.Told); v.IsDone != t.IsTicked {
			p.plan = p.write(h, p.plan, p.plan.Mark(it.ID, v.IsDone))
		}
	}
	if p.plan = p.write(h, p.plan, p.plan.Grouped()); run.Iteration > 0 && !bytes.Equal(p.plan.Data, left) {
		h.Wrote(run.Iteration)
	}
	p.book.Look(p.plan)
	p.book.Before, p.book.Judging = nil, false
	for _, id := range landed.Alone {
		p.book.Isolate(id)
	}
	switch {
	case p.IsDone():
		p.Promise(h, r)
	case r.Verdict.Matched:
		open := format.Counted(len(p.plan.Open()), "open task")
		h.TooEarly(r.Verdict.Promise, fmt.Sprintf("the agent says that all is done, but %s has %s", p.plan.Name, open))
		r.Verdict = promises.Verdict{}
	}
}

// Promise has a run whose plan is done count as one that promised that.
func (p *Policy) Promise(h Host, r *judge.Report) {
	tasks := format.Counted(len(p.plan.Tasks()), "task")
	r.Verdict = promises.Verdict{Matched: true, Promise: "all " + tasks + " of " + p.plan.Name}
	if one := p.plan.Chosen(); len(one) == 1 {
		r.Verdict.Promise = fmt.Sprintf("the task %q of %s", one[0].Text, p.plan.Name)
	}
	failed := func(it plan.Item) bool { return !slices.Contains(p.book.Passed, it.ID) }
	if passed := len(slices.DeleteFunc(p.plan.Tasks(), failed)); passed > 0 {
		r.Verified = fmt.Sprintf("%d of %s by their own checks", passed, tasks)
		all := verify.Check{Shell: strings.Join(p.plan.Commands(), " && ")}
		if r.Guards = h.Guards(all); r.Guards != "" && passed < len(p.plan.Tasks()) {
			r.Guards += fmt.Sprintf(", for %d of %s", passed, tasks)
		}
	}
}

// Watch looks at what agents, or what they wrote, did to the plan: tasks that are gone are put back, and commands that are new
// wait for the user.
func (p *Policy) Watch(h Host) {
	if !p.IsOn() {
		return
	}
	now, err := p.cfg.ReadPlan()
	if err != nil {
		h.Warn("the plan is put back as it was before the iteration: " + err.Error())
		if len(p.plan.Items) > 0 {
			p.write(h, plan.Plan{}, p.plan) // the known plan counts, even where it can't be written
		}
		return
	}
	lost := p.plan.Lost(now)
	if len(lost) == 0 {
		p.plan = now
		p.askCommands(h)
		return
	}
	p.plan = p.write(h, now, p.plan.With(now))
	out, names := format.Counted(len(lost), "task")+" of "+now.Name, ""
	for _, it := range lost[:min(len(lost), maxLost)] {
		names += "\n- " + loop.OneLine(it.Text)
	}
	h.Warn("the agent took out or changed " + out + ", which is put back as it was: " + lost[0].Text)
	if p.book.Lost++; p.book.Lost <= maxLost {
		p.ask(h, askLost, "may the agent take out or change "+out+"?", names, func() { p.without = &now })
	}
}

// write makes the plan's file what it is to be, and returns the plan that the file has then.
func (p *Policy) write(h Host, was, want plan.Plan) plan.Plan {
	if err := setup.WritePlan(p.cfg.Folder, was, want); err != nil {
		h.Warn("the plan can't be written: " + err.Error())
		return was
	}
	return want
}

// askCommands asks for commands that the plan has got while an agent, or what it wrote, was at work.
func (p *Policy) askCommands(h Host) {
	fresh := slices.DeleteFunc(p.plan.Commands(), p.accepts)
	fresh = fresh[:min(len(fresh), maxLost)] // as many as somebody reads
	if len(fresh) == 0 {
		h.Withdraw(askCommands)
		return
	}
	title := "may the loop run " + format.Counted(len(fresh), "new check") + " of " + p.plan.Name + "?"
	p.ask(h, askCommands, title, "\n"+strings.Join(fresh, "\n"), func() {
		p.book.Accepted = append(slices.Clip(p.book.Accepted), fresh...)
	})
}

func (p *Policy) accepts(command string) bool { return slices.Contains(p.book.Accepted, command) }

// ask asks the user about the plan, once.
func (p *Policy) ask(h Host, kind, title, detail string, yes func()) {
	detail = "The plan was changed so while a run was at work, maybe by the agent. Until you answer, it counts as it was before." + detail
	if slices.Contains(p.asked, title+detail) || len(p.asked) == 2*maxLost {
		return
	}
	p.asked = append(p.asked, title+detail)
	h.Ask(kind, loop.OneLine(title), detail, yes)
}

// Checker judges tasks of an iteration.
func (p *Policy) Checker(h Host, iteration int) Checker {
	return Checker{
		Pass: func(check verify.Check, t Candidate) (verify.Result, bool) {
			defer p.Watch(h) // the check's programs may have written to it
			return h.Check(iteration, check, t)
		},
		Timeout: p.cfg.Verification.Check.Timeout, Accepts: p.accepts, Book: p.book, Warn: h.Warn,
	}
}
