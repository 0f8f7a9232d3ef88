package loop

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/internal/account"
	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/plan"
)

// StuckAdvice says what helps a task that can't be done.
const StuckAdvice = "mend its check, say more in the plan, or split it up"

// often is from how many times on something is a cause, and no accident.
const often = 2

// Cause says what most probably keeps a loop from being done, and what helps: by what came again and again in its
// iterations. "" where nothing did.
func Cause(promise string, tasks plan.Book, a account.Account) string {
	if stuck := tasks.Stuck(); len(stuck) > 0 {
		return OneLine(stuck[0].String() + "; " + StuckAdvice)
	}
	if said := UnsetPromise(promise, a); said != "" {
		return OneLine(fmt.Sprintf("the agent promised %q %s, but no promise is set; set that one with --completion-promise, or change the prompt", said, times(most(a.Promised))))
	}
	for _, kind := range []struct {
		of      account.List
		format  string
		helping string
	}{
		{a.Missed, "%s (%s)", "change the prompt, so that it says how to finish"},
		{a.Refused, "the agent was refused %s %s", "allow it with --backend-arg, or change the prompt"},
		{a.Unanswered, "nobody answered %q %s", "be there, or allow it for the whole loop"},
	} {
		if it := most(kind.of); it.Count >= often {
			return OneLine(fmt.Sprintf(kind.format, it.Text, times(it)) + "; " + kind.helping)
		}
	}
	return ""
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

func times(it account.Item) string { return tell.Counted(it.Count, "time") }
