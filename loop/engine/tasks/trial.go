package tasks

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop/engine/rules"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/verification"
	"github.com/ralph-lsp/ralph-lsp/plan"
	"github.com/ralph-lsp/ralph-lsp/verify"
)

// Bench is what a loop judges tasks with.
type Bench struct {
	Pass    func(verify.Check, Trial) (r verify.Result, ok bool) // runs a task's check; ok is false when the loop is to end meanwhile
	Timeout time.Duration                                        // of a check
	Accepts func(command string) bool                            // whether a check may be run
	Note    func(func(*plan.Book)) plan.Book                     // changes what is remembered of the plan
	Warn    func(message string)
}

// Trial is a task whose work is judged.
type Trial struct {
	plan.Item
	IsTicked bool
	IsIdle   func() bool // whether it is known that nothing was changed but the plan
	Folder   string      // where its work is; "": in the loop's
	Own      string      // the checkout that Folder is in
}

// Verdict is what was found out about a task.
type Verdict struct {
	IsDone bool
	Told   string // to the next run
}

// Judge finds out whether a task is done that was ticked, or that a run had to do. ok is false when the loop is to end
// before that is known.
func (b Bench) Judge(t Trial) (v Verdict, ok bool) {
	check := verify.Check{Shell: t.Verify, When: verify.OnEach, Timeout: b.Timeout}
	r := verify.Result{State: verify.Verified}
	switch {
	case t.Verify != "" && !b.Accepts(t.Verify):
		r = verification.Unchecked("isn't run: nobody has accepted it")
	case t.Verify != "":
		if r, ok = b.Pass(check, t); !ok {
			return v, false
		}
		if r.State == verify.Refuted {
			v.Told = verification.Refutation(check, verify.CommandGate, false, r)
		}
	case !t.IsTicked:
		return v, true
	case t.IsIdle():
		r = verify.Result{State: verify.Refuted, Why: "nothing was changed but the plan"}
	}
	opens, why := false, strings.TrimSpace(check.String()+" "+r.Why)
	b.Note(func(book *plan.Book) {
		switch {
		case r.State == verify.Verified && t.Verify != "":
			book.Pass(t.ID)
		case r.State == verify.Refuted && t.IsTicked:
			opens = book.Reopen(t.ID)
		}
		if v.IsDone = r.State == verify.Verified || t.IsTicked && !opens; r.State == verify.Refuted && !v.IsDone {
			book.Refute(t.Item, why)
		}
	})
	switch {
	case r.State == verify.Verified || !t.IsTicked:
	case opens:
		b.Warn(fmt.Sprintf("the task %q was checked, but %s: it is open again", t.Text, why))
		v.Told = strings.TrimSpace(fmt.Sprintf("%s\n\nThe last run checked the task %q, but %s. It is open again.", v.Told, t.Text, why))
	default:
		b.Warn(fmt.Sprintf("unverified: the task %q stays checked, but %s", t.Text, why))
	}
	return v, true
}

// Give gives a run what is next of a plan, one task or several side by side, and to whom one names.
func (b Bench) Give(run *setup.Run, c setup.Config, p plan.Plan) {
	book := b.Note(func(*plan.Book) {})
	batch := book.Batch(p, c.Said.Workers, func(it plan.Item) bool {
		role, _ := c.Role(it.Agent)
		return slices.Contains(book.Alone, it.ID) || role.ReadOnly || role.Timeout > 0 // which are a run's
	})
	run.TaskText = plan.TextOf(batch)
	for _, it := range batch {
		switch role, ok := c.Role(it.Agent); {
		case ok && !c.HandsOver() && len(batch) == 1:
			run.Turn.Hat = role.Hat
		case (!ok || c.HandsOver()) && it.Agent != "":
			b.Warn(fmt.Sprintf("the task %q is for the agent %s, which this loop doesn't have: its own does it", it.Text, it.Agent))
		}
	}
	var aside []plan.Refused
	b.Note(func(book *plan.Book) { aside = book.Begin(p, batch) })
	for _, r := range aside {
		b.Warn("a task is set aside until no other is open, and has one more try then: " + r.String())
	}
	if len(batch) > 1 {
		run.Batch = batch
		return
	}
	it := slices.Concat(batch, []plan.Item{{}})[0] // none is open any more, maybe
	run.TaskID, run.Task = it.ID, rules.Task(p, it, it.Verify != "" && b.Accepts(it.Verify), false)
}
