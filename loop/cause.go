package loop

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/account"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/loop/plan"
)

// StuckAdvice says what helps a task that can't be done.
const StuckAdvice = "mend its check, say more in the plan, or split it up"

// often is from how many times on something is a cause, and no accident.
const often = 2

// Facts are those from which Cause tells what keeps a loop from being done.
type Facts struct {
	Promise    string // that is set; "" is none
	Tasks      plan.Book
	Account    account.Account
	Refuted    int          // promises in a row that weren't true
	Refutation string       // the last refutation, as the next run is told
	Pending    []hats.Topic // of a loop that ends: those that no hat has worked on, the oldest first
}

// Cause says what most probably keeps a loop from being done, and what helps: by what came again and again in its
// iterations. "" where nothing did.
func Cause(f Facts) string {
	if stuck := f.Tasks.Stuck(); len(stuck) > 0 {
		return OneLine(stuck[0].String() + "; " + StuckAdvice)
	}
	if said := UnsetPromise(f.Promise, f.Account); said != "" {
		return OneLine(fmt.Sprintf("the agent promised %q %s, but no promise is set; set that one with --completion-promise, "+
			"or change the prompt", said, times(most(f.Account.Promised))))
	}
	if f.Refuted >= often {
		return OneLine(fmt.Sprintf("%s in a row were refuted: %s; see whether that check can pass",
			format.Counted(f.Refuted, "promise"), checked(f.Refutation)))
	}
	for _, kind := range []struct {
		of      account.List
		format  string
		helping string
	}{
		{f.Account.Missed, "%s (%s)", "change the prompt, so that it says how to finish"},
		{f.Account.Refused, "the agent was refused %s %s", "allow it with --backend-arg, or change the prompt"},
		{f.Account.Unanswered, "nobody answered %q %s", "be there, or allow it for the whole loop"},
	} {
		if it := most(kind.of); it.Count >= often {
			return OneLine(fmt.Sprintf(kind.format, it.Text, times(it)) + "; " + kind.helping)
		}
	}
	if len(f.Pending) > 0 {
		return OneLine(fmt.Sprintf("no hat has worked on %s yet (%s); let it go on for longer",
			format.Counted(len(f.Pending), "topic"), hats.Turn{Topics: f.Pending}.Head()))
	}
	return ""
}

// checked is what was checked, and how that went, of the words by which a run is told of it.
func checked(refutation string) string {
	first, _, _ := strings.Cut(refutation, "\n")
	if _, said, ok := strings.Cut(first, ": "); ok {
		first = said
	}
	for _, behind := range []string{" From its output:", " It says:", "."} {
		first = strings.TrimSuffix(first, behind)
	}
	return cmp.Or(first, "what it promised isn't so")
}

// UnsetPromise is the promise that the agent made again and again although none was set; "" where it didn't.
func UnsetPromise(promise string, a account.Account) string {
	if it := most(a.Promised); promise == "" && it.Count >= often {
		return it.Text
	}
	return ""
}

// most is what came most often.
func most(l account.List) (it account.Item) {
	if len(l.Items) > 0 {
		it = slices.MaxFunc(l.Items, func(a, b account.Item) int { return cmp.Compare(a.Count, b.Count) })
	}
	return it
}

func times(it account.Item) string { return format.Counted(it.Count, "time") }
