package engine

import (
	"testing"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/control"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
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

// A loop that goes on alone outlives the program that is installed: who asks may be of
// another version. The loop does what it knows of, and says so of the rest.
func TestOtherVersionsOnTheSocket(t *testing.T) {
	obs := &beginner{begun: make(chan int, 2)}
	l, err := drive(setup.Config{
		Folder: t.TempDir(), Prompt: "x", Storage: setup.Storage{History: history.Options{Off: true}}, Limits: limits.Default(),
		Backend: shell("agent", "cat >/dev/null; exec sleep 1000", backends.PromptStdin).Backend,
	}, setup.Host{}, obs)
	must.OK(t, err)
	defer l.Cancel()
	<-obs.begun
	st, err := loop.FolderStatus(l.Status().Folder)
	if err != nil || st.Owner == nil {
		t.Fatalf("it is found as %+v, %v", st, err)
	}
	for _, tt := range []struct {
		request any
		want    string
		pauses  bool
	}{
		{map[string]any{"do": "fly", "loopId": l.engine.id, "height": 3}, "this version of ralph-lsp can't fly a loop that it drives: restart it", false},
		{"pause", "that is no request: json: cannot unmarshal string into Go value of type loop.Request", false},
		{map[string]any{"do": "pause", "loopId": "ralph-other"}, loop.ErrNotRunning.Error(), false},
		{map[string]any{"do": "pause", "loopId": l.engine.id, "until": "tomorrow", "patch": map[string]any{"maxPlanets": 9}}, "", true},
		{map[string]any{"do": "resume"}, "", false}, // an earlier one names no loop
	} {
		var r struct{ Error string }
		if err := control.Ask(t.Context(), st.Owner.Control, tt.request, &r); err != nil {
			t.Fatalf("%v: %v", tt.request, err)
		}
		if got := r.Error; got != tt.want || l.Status().Pausing != tt.pauses {
			t.Errorf("%v: %s, pausing %t; want %s", tt.request, got, l.Status().Pausing, tt.want)
		}
	}
}
