package loop

import (
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/account"
	"github.com/ralph-lsp/ralph-lsp/plan"
)

func TestCause(t *testing.T) {
	list := func(texts ...string) (l account.List) {
		l.Add(texts...)
		return l
	}
	stuck := plan.Book{Refused: []plan.Refused{{Text: "one", Times: 3, Why: "make failed"}}}
	code := list("It was code.", "It was code.", "It was a list.")
	for _, tt := range []struct {
		name, promise string
		tasks         plan.Book
		a             account.Account
		want          string
	}{
		{name: "nothing"},
		{name: "once is no cause", a: account.Account{Promised: list("DONE"), Missed: list("a", "b"), Refused: list("c"), Unanswered: list("d")}},
		{"a task", "", stuck, account.Account{Missed: code}, `"one": make failed, 3 times; mend its check, say more in the plan, or split it up`},
		{"no promise", "", plan.Book{}, account.Account{Missed: code, Promised: list("OK", "DONE", "DONE")},
			`the agent promised "DONE" 2 times, but no promise is set; set that one with --completion-promise, or change the prompt`},
		{"one that is set meanwhile", "DONE", plan.Book{}, account.Account{Promised: list("DONE", "DONE")}, ""},
		{"near misses", "DONE", plan.Book{}, account.Account{Missed: code, Refused: list("x", "x")}, "It was code. (2 times); change the prompt, so that it says how to finish"},
		{"refusals", "", plan.Book{}, account.Account{Refused: list("Bash make", "Bash make")}, "the agent was refused Bash make 2 times; allow it with --backend-arg, or change the prompt"},
		{"questions", "", plan.Book{}, account.Account{Unanswered: list("Bash make", "Bash make")}, `nobody answered "Bash make" 2 times; be there, or allow it for the whole loop`},
	} {
		if got := Cause(tt.promise, tt.tasks, tt.a); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	for promise, want := range map[string]string{"": "DONE", "X": ""} {
		if got := UnsetPromise(promise, account.Account{Promised: list("DONE", "DONE")}); got != want {
			t.Errorf("with %q: %q, want %q", promise, got, want)
		}
	}
}
