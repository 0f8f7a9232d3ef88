package engine

import (
	"errors"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

func TestContinue(t *testing.T) {
	found := func() *loopstate.State {
		cost, idle := 1.5, limits.Duration(7*time.Minute)
		return &loopstate.State{
			Active: true, Iteration: 4, Values: settings.Values{Given: limits.Given{Promise: new("DONE"), MaxIterations: new(6), IdleTimeout: &idle}}, Prompt: "Go on", LoopID: "ralph-before",
			AgentChoice: loopstate.AgentChoice{Backend: "pi", BackendArgs: []string{"--planted"}}, Spent: loopstate.Spent{Cost: stream.USD(cost), Elapsed: time.Hour},
		}
	}
	resume := func(c *setup.Config) {
		*c = setup.Config{Folder: c.Folder, Storage: setup.Storage{History: c.Storage.History}, Backend: c.Backend, Continue: true}
	}
	t.Run("with the same iteration", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r, err := tryStart(t, found(), resume, costs(1, "no"))
			must.OK(t, err)
			end := r.over(loop.StopMaxIterations, 3)
			if end.Iterations != 6 || end.Cost.USD != 4.5 || r.Status().LoopID != "ralph-before" {
				t.Errorf("got %+v", end)
			}
			spec := r.agents.specs[0]
			if spec.Iteration != 4 || spec.Prompt != "Go on" || len(spec.Args) != 0 {
				t.Errorf("first run %+v", spec)
			}
		})
	})
	t.Run("with new limits", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			n := 4
			r, err := tryStart(t, found(), func(c *setup.Config) { resume(c); c.Change.MaxIterations = &n }, says("no"))
			must.OK(t, err)
			r.over(loop.StopMaxIterations, 1)
		})
	})
	t.Run("an agent doesn't, whoever's it was", func(t *testing.T) {
		t.Setenv(caller.EnvLoopID, "ralph-other")
		bubble(t, func(t *testing.T) {
			r, err := tryStart(t, found(), func(c *setup.Config) { resume(c); c.Change.MaxIterations = new(500) }, says("no"))
			if !errors.As(err, new(*caller.Refused)) || stateFileOf(r).Limits().MaxIterations != 6 {
				t.Errorf("got %v", err)
			}
		})
	})
	t.Run("when there is nothing", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			if _, err := tryStart(t, nil, resume, says("no")); !errors.Is(err, loop.ErrNothingToGoOn) {
				t.Errorf("got %v", err)
			}
		})
	})
	t.Run("a new loop doesn't overwrite it", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			_, err := tryStart(t, found(), nil, says("no"))
			var interrupted *loop.InterruptedError
			if !errors.As(err, &interrupted) || interrupted.State.Iteration != 4 {
				t.Errorf("got %v", err)
			}
		})
	})
}

func TestACappedLoopCanBeContinued(t *testing.T) {
	bubble(t, func(t *testing.T) {
		first := start(t, func(c *setup.Config) { c.Limits.MaxIterations = 2 }, costs(1, "no"))
		first.over(loop.StopMaxIterations, 2)
		more := 3
		r, err := tryStart(t, nil, func(c *setup.Config) {
			*c = setup.Config{Folder: first.cfg.Folder, Storage: setup.Storage{History: c.Storage.History}, Backend: c.Backend,
				Continue: true, Change: loop.Patch{Given: limits.Given{MaxIterations: &more}}}
		}, costs(1, "no"))
		must.OK(t, err)
		if end := r.over(loop.StopMaxIterations, 1); end.Iterations != 3 || end.Cost.USD != 3 {
			t.Errorf("got %+v", end)
		}
	})
}
