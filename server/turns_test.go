package server

import (
	"context"
	"testing"

	"ralph-lsp/internal/lsptest"
)

func TestCommandsBehindAStartFindItsLoop(t *testing.T) {
	agent := agentThat(t, "never")
	behind := map[string]func(c *client, folder string) func() lsptest.Message{
		"cancel": func(c *client, _ string) func() lsptest.Message { return c.BeginCommand(CommandCancel, struct{}{}) },
		"cancel of the folder": func(c *client, folder string) func() lsptest.Message {
			return c.BeginCommand(CommandCancel, LoopParams{Folder: FileURI(folder)})
		},
		"pause": func(c *client, _ string) func() lsptest.Message { return c.BeginCommand(CommandPause, struct{}{}) },
		"steer": func(c *client, _ string) func() lsptest.Message {
			return c.BeginCommand(CommandSteer, SteerParams{Text: "x"})
		},
		"update": func(c *client, _ string) func() lsptest.Message {
			return c.BeginCommand(CommandUpdate, ChangeParams{LimitParams: LimitParams{MaxIterations: new(7)}})
		},
	}
	for name, begin := range behind {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c := dial(t, optedIn, dir)
			started := c.BeginCommand(CommandStart, StartParams{Prompt: "x", Choices: Choices{Backend: agent}})
			answer := begin(c, dir)
			c.Must(started())
			m := answer()
			c.Must(m)
			if name == "cancel" || name == "cancel of the folder" {
				if got := result[LoopResult](c, m); got.State != "ended" {
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
		answers = append(answers, c.BeginCommand(CommandStart, StartParams{Prompt: "x", Choices: Choices{Backend: agent}, Replace: true}))
	}
	var last StartResult
	for _, answer := range answers {
		last = result[StartResult](c, answer())
	}
	if got := result[LoopResult](c, c.Command(CommandCancel, struct{}{})); got.State != "ended" || got.LoopID != last.LoopID {
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
