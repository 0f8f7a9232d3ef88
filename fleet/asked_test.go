package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/control"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
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
	server, err := control.Serve(filepath.Join(t.TempDir(), "loop"), d.obey, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	status, err := json.Marshal(loop.Status{Work: loop.Work{Allowed: []string{"Bash(make:*)"}, Questions: []ask.Question{
		{ID: "q1", Kind: ask.Permission, Tool: "Bash", Title: "Bash git push", Rule: "Bash(git push:*)"},
		{ID: "q2", Kind: ask.Confirm, Title: "Really?"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	lock, err := file.Lock(loopstate.Owner{PID: os.Getpid(), LoopID: "ralph-1", Standing: loopstate.Standing{Control: server.Path, Status: status}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lock.Release() })
	s := loopstate.State{LoopID: "ralph-1", Active: true, Iteration: 3, Begun: true, Values: settings.Values{Given: limits.Given{MaxIterations: new(5)}}, Prompt: "Do it"}
	if err := file.Create(s); err != nil {
		t.Fatal(err)
	}
	return tree, d
}

func TestWhatAWorkerDoesForOthers(t *testing.T) {
	given := func(most int) loop.Patch { return loop.Patch{Given: limits.Given{MaxIterations: &most}} }
	tests := []struct {
		name string
		q    loop.Request
		want string // of the reply
		left string // what the loop was asked for
	}{
		{"an answer", loop.Request{Do: caller.Answer, ID: "q2", Answer: ask.Answer{Kind: ask.Once, By: "me"}}, `{"iteration":3}`, "answer q2 once  me"},
		{"that is none", loop.Request{Do: caller.Answer, ID: "q2", Answer: ask.Answer{Kind: ask.ForLoop}}, `"code":"answer"`, ""},
		{"the next iteration", loop.Request{Do: caller.Next}, `{"iteration":3}`, "next "},
		{"a limit", loop.Request{Do: caller.Update, Patch: given(9)}, `"bounds":"9 iterations`, "update "},
		{"a limit that is none", loop.Request{Do: caller.Update, Patch: given(-1)}, "max_iterations is -1", ""},
		{"a prompt", loop.Request{Do: caller.Update, Patch: loop.Patch{Prompt: new("Do more")}}, `"bounds"`, "update "},
		{"a rule taken back", loop.Request{Do: loop.DoDisallow, Steering: loop.Steering{Text: "Bash(make:*)"}}, `{"iteration":3}`, "disallow Bash(make:*)"},
		{"its end", loop.Request{Do: caller.Cancel}, "doesn't know how to do cancel", ""},
		{"something else", loop.Request{Do: "land"}, "doesn't know how to do land", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree, d := asking(t)
			request, _ := json.Marshal(tt.q)
			if got := string((&Asked{Ctx: t.Context(), Tree: tree}).Answer(request)); !strings.Contains(got, tt.want) {
				t.Errorf("the reply is %s", got)
			}
			if left := strings.Join(d.heard, ", "); left != tt.left {
				t.Errorf("left is %q, not %q", left, tt.left)
			}
		})
	}
}

// An iteration that is over, or lost, changes nothing any more.
func TestWhoIsAskedTooLate(t *testing.T) {
	tree, d := asking(t)
	request, _ := json.Marshal(loop.Request{Do: caller.Next})
	ctx, lose := context.WithCancelCause(t.Context())
	over, lost := &Asked{Ctx: t.Context(), Tree: tree}, &Asked{Ctx: ctx, Tree: tree}
	over.End()
	if got := string(over.Answer(request)); !strings.Contains(got, `"code":"not_running"`) {
		t.Errorf("over: %s", got)
	}
	lose(errors.New("it is cancelled"))
	if got := string(lost.Answer(request)); !strings.Contains(got, `"code":"not_running"`) {
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
