package tasks

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop/engine/verification"
	"github.com/ralph-lsp/ralph-lsp/loop/plan"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
)

// Checker is what a loop judges tasks with.
type Checker struct {
	Pass    func(verify.Check, Candidate) (r verify.Result, ok bool) // runs a task's check; ok is false when the loop is to end meanwhile
	Timeout time.Duration                                            // of a check
	Accepts func(command string) bool                                // whether a check may be run
	Book    *plan.Book                                               // what the loop remembers of the plan
	Warn    func(message string)
}

// Candidate is a task whose work is judged.
type Candidate struct {
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
func (b Checker) Judge(t Candidate) (v Verdict, ok bool) {
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
	switch {
	case r.State == verify.Verified && t.Verify != "":
		b.Book.Pass(t.ID)
	case r.State == verify.Refuted && t.IsTicked:
		opens = b.Book.Reopen(t.ID)
	}
	if v.IsDone = r.State == verify.Verified || t.IsTicked && !opens; r.State == verify.Refuted && !v.IsDone {
		b.Book.Refute(t.Item, why)
	}
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
