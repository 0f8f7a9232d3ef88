package server

import (
	"context"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

func TestCommandsBehindAStartFindItsLoop(t *testing.T) {
	agent := agentThat(t, "never")
	behind := map[string]func(c *dialled, folder string) func() lsptest.Message{
		"cancel": func(c *dialled, _ string) func() lsptest.Message {
			return c.BeginCommand(wire.CommandCancel, struct{}{})
		},
		"cancel of the folder": func(c *dialled, folder string) func() lsptest.Message {
			return c.BeginCommand(wire.CommandCancel, wire.LoopParams{Folder: wire.FileURI(folder)})
		},
		"pause": func(c *dialled, _ string) func() lsptest.Message {
			return c.BeginCommand(wire.CommandPause, struct{}{})
		},
		"steer": func(c *dialled, _ string) func() lsptest.Message {
			return c.BeginCommand(wire.CommandSteer, wire.SteerParams{Text: "x"})
		},
		"update": func(c *dialled, _ string) func() lsptest.Message {
			return c.BeginCommand(wire.CommandUpdate, wire.ChangeParams{LimitParams: wire.LimitParams{Message: limits.Message{MaxIterations: new(7)}}})
		},
	}
	for name, begin := range behind {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c := dial(t, optedIn, dir)
			started := c.BeginCommand(wire.CommandStart, wire.StartParams{Prompt: "x", Choices: wire.Choices{Backend: agent}})
			answer := begin(c, dir)
			c.Must(started())
			m := answer()
			c.Must(m)
			if name == "cancel" || name == "cancel of the folder" {
				if got := result[wire.LoopResult](c, m); got.State != "ended" {
					t.Errorf("got %+v", got)
				}
			}
		})
	}
}

func TestStartsThatReplaceComeInOrder(t *testing.T) {
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	agent := agentThat(t, "never")
	var answers []func() lsptest.Message
	for range 3 {
		answers = append(answers, c.BeginCommand(wire.CommandStart, wire.StartParams{Prompt: "x", Choices: wire.Choices{Backend: agent}, Replace: true}))
	}
	var last wire.StartResult
	for _, answer := range answers {
		last = result[wire.StartResult](c, answer())
	}
	if got := result[wire.LoopResult](c, c.Command(wire.CommandCancel, struct{}{})); got.State != "ended" || got.LoopID != last.LoopID {
		t.Errorf("cancelled %+v, the last start was %+v", got, last)
	}
}

func TestTurns(t *testing.T) {
	free := func(turn *turn) bool {
		ended, end := context.WithCancel(context.Background())
		end()
		return turn.await(ended) == nil
	}
	var order turns
	first := order.take("/a", true)
	cancel := order.take("/a", false)
	second, elsewhere := order.take("/a", true), order.take("/b", true)
	anywhere := order.take("", true)
	if !free(first) || free(cancel) || free(second) || !free(elsewhere) || free(anywhere) {
		t.Error("only those without another before them are free")
	}
	first.end()
	first.end()
	if !free(cancel) || !free(second) || free(anywhere) {
		t.Error("the first is done")
	}
	second.end()
	elsewhere.end()
	if !free(anywhere) || len(order.open) != 1 {
		t.Error("all before the last are done")
	}
	var none *turn
	none.end()
	if !free(none) {
		t.Error("who has no turn waits for nobody")
	}
}
