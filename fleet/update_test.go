package fleet

import (
	"errors"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/loop"
)

// Limits that are changed while an iteration begins or ends are those of the next one.
func TestAWorkerThatRefusesAnUpdate(t *testing.T) {
	for why, isFine := range map[error]bool{loop.ErrNotRunning: true, loop.ErrNoRun: false} {
		reply, _ := Encode(loop.ReplyOf(0, why))
		bus := newMemory()
		r := queued()
		bus.Create(t.Context(), r)
		bus.Listen(t.Context(), r.ID, func([]byte) []byte { return reply })
		err := handle(t, bus, r).Update(loop.Patch{Given: limits.Given{MaxIterations: new(7)}})
		kept, _, _ := bus.Get(t.Context(), r.ID)
		if (err == nil) != isFine || (len(kept.Changed) > 0) != isFine {
			t.Errorf("%s: %v, and the loop keeps %q", why, err, kept.Changed)
		}
	}
}

// Of an update all is taken or nothing.
func TestLimitsAreNotKeptWithoutTheRest(t *testing.T) {
	bus := newMemory()
	r := queued()
	bus.Create(t.Context(), r)
	err := handle(t, bus, r).Update(loop.Patch{Given: limits.Given{MaxIterations: new(7)}, Prompt: new("Do more")})
	if kept, _, _ := bus.Get(t.Context(), r.ID); !errors.Is(err, ErrNobody) || len(kept.Changed) > 0 {
		t.Errorf("while nobody can be told the prompt: %v, and the loop keeps %q", err, kept.Changed)
	}
}
