package engine

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// beginner tells which iterations have begun.
type beginner struct {
	watcher
	begun chan int
}

func (b *beginner) HandleLoop(e loop.Event) {
	b.watcher.HandleLoop(e)
	if e, ok := e.(loop.IterationStart); ok {
		b.begun <- e.Iteration
	}
}

// Whoever commands a loop needn't know where it runs: each command does and says the same to one
// that runs here and to one of another process.
func TestEachCommandDoesTheSameHereAndElsewhere(t *testing.T) {
	given := func(most int) loop.Patch { return loop.Patch{Given: limits.Given{MaxIterations: &most}} }
	steps := []struct {
		name string
		do   func(h loop.Handle, id string) error
		seen func(st loop.Status) any
		want string
	}{
		{"steer", func(h loop.Handle, _ string) error {
			_, err := h.Steer(loop.Steering{Text: "use tabs", Once: true, Next: true})
			return err
		}, nil, "<nil>"},
		{"update", func(h loop.Handle, _ string) error { return h.Update(given(7)) }, func(st loop.Status) any { return st.Limits.MaxIterations }, "<nil>, 7"},
		{"update to what can't be", func(h loop.Handle, _ string) error { return h.Update(given(-1)) }, func(st loop.Status) any { return st.Limits.MaxIterations }, "max_iterations is -1; write a whole number, 0 or more, 7"},
		{"answer", func(h loop.Handle, _ string) error { return h.Answer("q1", ask.Answer{Kind: ask.Once}) }, nil, ask.ErrNoQuestion.Error()},
		{"disallow", func(h loop.Handle, _ string) error { return h.Disallow("Bash(ls)") }, nil, "nothing allows Bash(ls) in this loop"},
		{"accept", func(h loop.Handle, _ string) error { return h.Resume(loop.Patch{Accept: true}) }, nil, loop.ErrNothingToAccept.Error()},
		{"pause", func(h loop.Handle, _ string) error { return h.Pause() }, func(st loop.Status) any { return st.Pausing }, "<nil>, true"},
		{"resume", func(h loop.Handle, _ string) error { return h.Resume(loop.Patch{}) }, func(st loop.Status) any { return st.Pausing }, "<nil>, false"},
		{"detach", func(h loop.Handle, _ string) error { _, err := h.Detach(); return err }, nil, loop.ErrNotDetachable.Error()},
		{"saved", func(h loop.Handle, id string) error {
			return h.Saved(loopstate.State{LoopID: id, Given: given(9).Given})
		}, func(st loop.Status) any { return st.Limits.MaxIterations }, "<nil>, 9"},
		{"is live", func(h loop.Handle, _ string) error { return fmt.Errorf("%t", h.IsLive()) }, nil, "false"},
		{"next", func(h loop.Handle, _ string) error { n, err := h.Next(); return fmt.Errorf("%d %v", n, err) }, nil, "1 <nil>"},
	}
	for name, handle := range map[string]func(*Loop) loop.Handle{
		"here":      func(l *Loop) loop.Handle { return l },
		"elsewhere": func(l *Loop) loop.Handle { return loop.Other{Folder: l.cfg.Folder, LoopID: l.id} },
	} {
		t.Run(name, func(t *testing.T) {
			obs := &beginner{begun: make(chan int, 2)}
			l, err := Start(Config{
				Folder: t.TempDir(), Prompt: "x", History: history.Options{Off: true}, Limits: limits.Default(), Said: settings.Said{Instruct: new(false)},
				Backend: shell("agent", "cat >/dev/null; exec sleep 1000", backends.PromptStdin).Backend,
			}, obs)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Cancel()
			h := handle(l)
			<-obs.begun
			for _, step := range steps {
				got := fmt.Sprint(step.do(h, l.id))
				if step.seen != nil {
					got += fmt.Sprint(", ", step.seen(l.Status()))
				}
				if diff := cmp.Diff(step.want, got); diff != "" {
					t.Errorf("%s: %s", step.name, diff)
				}
			}
			if n := <-obs.begun; n != 2 {
				t.Errorf("iteration %d comes next", n)
			}
			l.Cancel()
			if err := h.Pause(); fmt.Sprint(err) != loop.ErrNotRunning.Error() {
				t.Errorf("an ended loop: %v", err)
			}
		})
	}
}
