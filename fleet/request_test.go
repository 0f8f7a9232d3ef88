package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"ralph-lsp/internal/limits"
	"ralph-lsp/loop/ask"
	"ralph-lsp/loopstate"
	"ralph-lsp/wire"
)

// asking is a checkout whose loop asks two questions.
func asking(t *testing.T) (tree string, file *loopstate.File) {
	t.Helper()
	tree = t.TempDir()
	file, err := loopstate.Open(tree)
	if err != nil {
		t.Fatal(err)
	}
	lock, err := file.Lock(loopstate.Owner{PID: os.Getpid(), LoopID: "ralph-1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lock.Release() })
	s := loopstate.State{LoopID: "ralph-1", Active: true, Iteration: 3, Begun: true, Given: limits.Given{MaxIterations: new(5)}, Prompt: "Do it", Allowed: []string{"Bash(make:*)"}}
	for _, q := range []ask.Question{
		{ID: "q1", Kind: ask.Permission, Tool: "Bash", Title: "Bash git push", Rule: "Bash(git push:*)"},
		{ID: "q2", Kind: ask.Confirm, Title: "Really?"},
	} {
		text, _ := json.Marshal(q)
		s.Questions = append(s.Questions, string(text))
	}
	if err := file.Create(s); err != nil {
		t.Fatal(err)
	}
	return tree, file
}

func TestWhatAWorkerDoesForOthers(t *testing.T) {
	tests := []struct {
		name, command string
		params        any
		want          string // of the reply
		left          string // in the state's answers, or of what is changed
	}{
		{"an answer", wire.CommandAnswer, wire.AnswerParams{ID: "q2", Answer: "once"}, `"text":"answered yes: Really?"`, `{"id":"q2","kind":"once","by":"me"}`},
		{"to the oldest one", wire.CommandAnswer, wire.AnswerParams{Answer: "deny", Text: "not that"}, "denied: Bash git push: not that", `{"id":"q1","kind":"deny","text":"not that","by":"me"}`},
		{"that is none", wire.CommandAnswer, wire.AnswerParams{ID: "q2", Answer: "loop"}, `"key":"answer"`, ""},
		{"to no question", wire.CommandAnswer, wire.AnswerParams{ID: "q9", Answer: "once"}, `"reason":"no_question"`, ""},
		{"an answer of no sense", wire.CommandAnswer, 7, "cannot unmarshal", ""},
		{"the next iteration", wire.CommandNext, wire.LoopParams{}, `"iteration":3`, "ends 3"},
		{"a limit", wire.CommandUpdate, wire.ChangeParams{LimitParams: wire.ParamsOf(limits.Given{MaxIterations: new(9)}, "")}, "9 iterations", "max 9"},
		{"a limit that is none", wire.CommandUpdate, wire.ChangeParams{LimitParams: wire.ParamsOf(limits.Given{MaxIterations: new(-1)}, "")}, `"key":"maxIterations"`, ""},
		{"a prompt", wire.CommandUpdate, wire.ChangeParams{Prompt: new("Do more")}, `"text"`, "prompt Do more"},
		{"no prompt", wire.CommandUpdate, wire.ChangeParams{Prompt: new(" ")}, `"reason":"empty_prompt"`, ""},
		{"a rule taken back", wire.CommandUpdate, wire.ChangeParams{Disallow: []string{"Bash(make:*)"}}, "asks again before: Bash(make:*)", "allowed []"},
		{"a rule that isn't", wire.CommandUpdate, wire.ChangeParams{Disallow: []string{"Bash"}}, "nothing allows Bash", ""},
		{"something else", wire.CommandLand, wire.LoopParams{}, "doesn't know how to do ralph.loop.land", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree, file := asking(t)
			a := &asked{ctx: t.Context(), tree: tree}
			params, _ := json.Marshal(tt.params)
			request, _ := json.Marshal(Request{tt.command, params, "me"})
			if got := string(a.answer(request)); !strings.Contains(got, tt.want) {
				t.Errorf("the reply is %s", got)
			}
			s, err := file.Load()
			if err != nil {
				t.Fatal(err)
			}
			var left string
			switch {
			case len(s.Answers) > 0:
				left = s.Answers[0]
			case s.EndIteration != 0:
				left = "ends 3"
			case *s.MaxIterations != 5:
				left = "max 9"
			case s.Prompt != "Do it":
				left = "prompt " + s.Prompt
			case len(s.Allowed) == 0:
				left = "allowed []"
			}
			if left != tt.left {
				t.Errorf("left is %q, not %q", left, tt.left)
			}
		})
	}
}

// An iteration that is over, or lost, changes nothing any more.
func TestWhoIsAskedTooLate(t *testing.T) {
	tree, file := asking(t)
	request, _ := json.Marshal(Request{Command: wire.CommandNext, Params: []byte("{}")})
	ctx, lose := context.WithCancelCause(t.Context())
	over, lost := &asked{ctx: t.Context(), tree: tree}, &asked{ctx: ctx, tree: tree}
	over.end()
	if got := string(over.answer(request)); !strings.Contains(got, `"reason":"not_running"`) {
		t.Errorf("over: %s", got)
	}
	lose(errCancelled)
	if got := string(lost.answer(request)); !strings.Contains(got, `"reason":"not_running"`) {
		t.Errorf("cancelled: %s", got)
	}
	ctx, lose = context.WithCancelCause(t.Context())
	lost.ctx = ctx
	lose(ErrNotOur)
	if got := lost.answer(request); got != nil {
		t.Errorf("lost: %s", got)
	}
	if got := string((&asked{ctx: t.Context(), tree: tree}).answer([]byte("{"))); !strings.Contains(got, `"error"`) {
		t.Errorf("no request: %s", got)
	}
	if s, err := file.Load(); err != nil || s.EndIteration != 0 {
		t.Errorf("the state is %+v, %v", s, err)
	}
}

// Limits that are changed while an iteration begins or ends are those of the next one.
func TestAWorkerThatRefusesAnUpdate(t *testing.T) {
	for reason, isFine := range map[string]bool{wire.ReasonNotRunning: true, wire.ReasonNoRun: false} {
		bus := newMemory()
		r := queued()
		bus.Create(t.Context(), r)
		bus.Listen(t.Context(), r.ID, func([]byte) []byte { return []byte(`{"error":{"reason":"` + reason + `","message":"no"}}`) })
		_, err := UpdateLoop(t.Context(), bus, r.ID, "me", wire.ChangeParams{LimitParams: wire.ParamsOf(limits.Given{MaxIterations: new(7)}, "")})
		kept, _, _ := bus.Get(t.Context(), r.ID)
		if (err == nil) != isFine || (len(kept.Changed) > 0) != isFine {
			t.Errorf("%s: %v, and the loop keeps %q", reason, err, kept.Changed)
		}
	}
}

// Of an update all is taken or nothing.
func TestLimitsAreNotKeptWithoutTheRest(t *testing.T) {
	seven := wire.ParamsOf(limits.Given{MaxIterations: new(7)}, "")
	bus := newMemory()
	r := queued()
	bus.Create(t.Context(), r)
	_, err := UpdateLoop(t.Context(), bus, r.ID, "me", wire.ChangeParams{LimitParams: seven, Prompt: new("Do more")})
	if kept, _, _ := bus.Get(t.Context(), r.ID); !errors.Is(err, ErrNobody) || len(kept.Changed) > 0 {
		t.Errorf("while nobody can be told the prompt: %v, and the loop keeps %q", err, kept.Changed)
	}
	tree, file := asking(t)
	for _, p := range []wire.ChangeParams{
		{LimitParams: seven, Disallow: []string{"Bash(make:*)", "Bash"}},
		{Prompt: new(" "), Disallow: []string{"Bash(make:*)"}},
	} {
		params, _ := json.Marshal(p)
		request, _ := json.Marshal(Request{wire.CommandUpdate, params, "me"})
		got := string((&asked{ctx: t.Context(), tree: tree}).answer(request))
		if s, err := file.Load(); err != nil || !strings.Contains(got, `"error"`) || len(s.Allowed) != 1 || *s.Given.MaxIterations != 5 {
			t.Errorf("%s: it replies %s, and the state is %+v (%v)", params, got, s, err)
		}
	}
}
