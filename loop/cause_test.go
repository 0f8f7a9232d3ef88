package loop

import (
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/account"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/loop/plan"
)

func TestCause(t *testing.T) {
	list := func(texts ...string) (l account.List) {
		l.Add(texts...)
		return l
	}
	stuck := plan.Book{Refused: []plan.Refused{{Text: "one", Times: 3, Why: "make failed"}}}
	code := list("It was code.", "It was code.", "It was a list.")
	for _, tt := range []struct {
		name string
		f    Facts
		want string
	}{
		{name: "nothing"},
		{name: "once is no cause", f: Facts{Refuted: 1, Account: account.Account{Promised: list("DONE"), Missed: list("a", "b"), Refused: list("c"), Unanswered: list("d")}}},
		{"a task", Facts{Tasks: stuck, Account: account.Account{Missed: code}}, `"one": make failed, 3 times; mend its check, say more in the plan, or split it up`},
		{"no promise", Facts{Account: account.Account{Missed: code, Promised: list("OK", "DONE", "DONE")}},
			`the agent promised "DONE" 2 times, but no promise is set; set that one with --completion-promise, or change the prompt`},
		{"one that is set meanwhile", Facts{Promise: "DONE", Account: account.Account{Promised: list("DONE", "DONE")}}, ""},
		{"near misses", Facts{Promise: "DONE", Account: account.Account{Missed: code, Refused: list("x", "x")}}, "It was code. (2 times); change the prompt, so that it says how to finish"},
		{"refusals", Facts{Account: account.Account{Refused: list("Bash make", "Bash make")}}, "the agent was refused Bash make 2 times; allow it with --backend-arg, or change the prompt"},
		{"questions", Facts{Account: account.Account{Unanswered: list("Bash make", "Bash make")}}, `nobody answered "Bash make" 2 times; be there, or allow it for the whole loop`},
		{"refutations", Facts{Promise: "DONE", Refuted: 2, Refutation: "The last run said that all is done. That was checked, and it isn't: `make test` failed: 2 of 7. From its output:\n<output>", Account: account.Account{Missed: code}},
			"2 promises in a row were refuted: `make test` failed: 2 of 7; see whether that check can pass"},
		{"a reviewer's", Facts{Refuted: 3, Refutation: "After the last run this was checked: the reviewer critic objects. It says:\n<review>"}, "3 promises in a row were refuted: the reviewer critic objects; see whether that check can pass"},
		{"topics", Facts{Pending: []hats.Topic{{Name: "plan.ready", From: "planner"}, {}}}, "no hat has worked on 2 topics yet (plan.ready from planner and 1 more); let it go on for longer"},
	} {
		if got := Cause(tt.f); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	for promise, want := range map[string]string{"": "DONE", "X": ""} {
		if got := UnsetPromise(promise, account.Account{Promised: list("DONE", "DONE")}); got != want {
			t.Errorf("with %q: %q, want %q", promise, got, want)
		}
	}
}
