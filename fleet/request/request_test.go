package request

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/control"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// driver is who drives a loop in a checkout, as far as others ask it for something.
type driver struct {
	file  *loopstate.File
	heard []string // what it was asked for, and obeys
}

// obey answers as a loop does.
func (d *driver) obey(_ int, data json.RawMessage) any {
	var q struct {
		Do, ID, Text string
		Answer       ask.Answer
		Patch        loop.Patch
	}
	if err := json.Unmarshal(data, &q); err != nil {
		return map[string]string{"error": err.Error()}
	}
	heard := q.Do + " " + q.Text
	switch q.Do {
	case "answer":
		if err := (ask.Question{Kind: ask.Confirm}).Takes(q.Answer); err != nil {
			return map[string]string{"error": err.Error(), "code": "answer"}
		}
		heard = "answer " + q.ID + " " + q.Answer.Kind + " " + q.Answer.Text + " " + q.Answer.By
	case "update":
		_, err := d.file.Update(func(s *loopstate.State) error {
			s.Given = q.Patch.Given.Or(s.Given)
			if q.Patch.Prompt != nil {
				s.Prompt = *q.Patch.Prompt
			}
			return s.Limits().Check()
		})
		if err != nil {
			return map[string]string{"error": err.Error()}
		}
	}
	d.heard = append(d.heard, heard)
	return map[string]int{"iteration": 3}
}

// asking is a checkout whose loop asks two questions.
func asking(t *testing.T) (tree string, d *driver) {
	t.Helper()
	tree = t.TempDir()
	file, err := loopstate.Open(tree)
	if err != nil {
		t.Fatal(err)
	}
	d = &driver{file: file}
	server, err := control.Serve(t.TempDir(), "ralph-1", d.obey)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	owner := loopstate.Owner{PID: os.Getpid(), LoopID: "ralph-1", Control: server.Path, Allowed: []string{"Bash(make:*)"}}
	for _, q := range []ask.Question{
		{ID: "q1", Kind: ask.Permission, Tool: "Bash", Title: "Bash git push", Rule: "Bash(git push:*)"},
		{ID: "q2", Kind: ask.Confirm, Title: "Really?"},
	} {
		owner.Questions = append(owner.Questions, q.ForFile())
	}
	lock, err := file.Lock(owner)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lock.Release() })
	s := loopstate.State{LoopID: "ralph-1", Active: true, Iteration: 3, Begun: true, Given: limits.Given{MaxIterations: new(5)}, Prompt: "Do it"}
	if err := file.Create(s); err != nil {
		t.Fatal(err)
	}
	return tree, d
}

func TestWhatAWorkerDoesForOthers(t *testing.T) {
	tests := []struct {
		name, command string
		params        any
		want          string // of the reply
		left          string // what the loop was asked for
	}{
		{"an answer", wire.CommandAnswer, wire.AnswerParams{ID: "q2", Answer: "once"}, `"text":"answered yes: Really?"`, "answer q2 once  me"},
		{"to the oldest one", wire.CommandAnswer, wire.AnswerParams{Answer: "deny", Text: "not that"}, "denied: Bash git push: not that", "answer q1 deny not that me"},
		{"that is none", wire.CommandAnswer, wire.AnswerParams{ID: "q2", Answer: "loop"}, `"key":"answer"`, ""},
		{"to no question", wire.CommandAnswer, wire.AnswerParams{ID: "q9", Answer: "once"}, `"reason":"no_question"`, ""},
		{"an answer of no sense", wire.CommandAnswer, 7, "cannot unmarshal", ""},
		{"the next iteration", wire.CommandNext, wire.LoopParams{}, `"iteration":3`, "next "},
		{"a limit", wire.CommandUpdate, wire.ChangeParams{LimitParams: wire.ParamsOf(limits.Given{MaxIterations: new(9)}, "")}, "9 iterations", "update "},
		{"a limit that is none", wire.CommandUpdate, wire.ChangeParams{LimitParams: wire.ParamsOf(limits.Given{MaxIterations: new(-1)}, "")}, `"key":"maxIterations"`, ""},
		{"a prompt", wire.CommandUpdate, wire.ChangeParams{Prompt: new("Do more")}, `"text"`, "update "},
		{"no prompt", wire.CommandUpdate, wire.ChangeParams{Prompt: new(" ")}, `"reason":"empty_prompt"`, ""},
		{"a rule taken back", wire.CommandUpdate, wire.ChangeParams{Disallow: []string{"Bash(make:*)"}}, "asks again before: Bash(make:*)", "disallow Bash(make:*)"},
		{"a rule that isn't", wire.CommandUpdate, wire.ChangeParams{Disallow: []string{"Bash"}}, "nothing allows Bash", ""},
		{"something else", wire.CommandLand, wire.LoopParams{}, "doesn't know how to do ralph.loop.land", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree, d := asking(t)
			a := &Asked{Ctx: t.Context(), Tree: tree}
			params, _ := json.Marshal(tt.params)
			request, _ := json.Marshal(Request{tt.command, params, "me"})
			if got := string(a.Answer(request)); !strings.Contains(got, tt.want) {
				t.Errorf("the reply is %s", got)
			}
			left := strings.Join(d.heard, ", ")
			if left != tt.left {
				t.Errorf("left is %q, not %q", left, tt.left)
			}
		})
	}
}

// An iteration that is over, or lost, changes nothing any more.
func TestWhoIsAskedTooLate(t *testing.T) {
	tree, d := asking(t)
	request, _ := json.Marshal(Request{Command: wire.CommandNext, Params: []byte("{}")})
	ctx, lose := context.WithCancelCause(t.Context())
	over, lost := &Asked{Ctx: t.Context(), Tree: tree}, &Asked{Ctx: ctx, Tree: tree}
	over.End()
	if got := string(over.Answer(request)); !strings.Contains(got, `"reason":"not_running"`) {
		t.Errorf("over: %s", got)
	}
	lose(errors.New("it is cancelled"))
	if got := string(lost.Answer(request)); !strings.Contains(got, `"reason":"not_running"`) {
		t.Errorf("cancelled: %s", got)
	}
	ctx, lose = context.WithCancelCause(t.Context())
	lost.Ctx = ctx
	lose(ErrNotOur)
	if got := lost.Answer(request); got != nil {
		t.Errorf("lost: %s", got)
	}
	if got := string((&Asked{Ctx: t.Context(), Tree: tree}).Answer([]byte("{"))); !strings.Contains(got, `"error"`) {
		t.Errorf("no request: %s", got)
	}
	if len(d.heard) > 0 {
		t.Errorf("the loop was asked for %q", d.heard)
	}
}

// Of an update all is taken or nothing.
func TestOfAnUpdateAllIsTakenOrNothing(t *testing.T) {
	seven := wire.ParamsOf(limits.Given{MaxIterations: new(7)}, "")
	tree, d := asking(t)
	for _, p := range []wire.ChangeParams{
		{LimitParams: seven, Disallow: []string{"Bash(make:*)", "Bash"}},
		{Prompt: new(" "), Disallow: []string{"Bash(make:*)"}},
	} {
		params, _ := json.Marshal(p)
		request, _ := json.Marshal(Request{wire.CommandUpdate, params, "me"})
		got := string((&Asked{Ctx: t.Context(), Tree: tree}).Answer(request))
		if s, err := d.file.Load(); err != nil || !strings.Contains(got, `"error"`) || len(d.heard) > 0 || *s.Given.MaxIterations != 5 {
			t.Errorf("%s: it replies %s, and the state is %+v (%v)", params, got, s, err)
		}
	}
}
