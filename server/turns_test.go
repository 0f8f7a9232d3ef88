package server

import (
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
			return c.BeginCommand(wire.CommandUpdate, wire.ChangeParams{Given: limits.Given{MaxIterations: new(7)}})
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
			if name != "cancel" && name != "cancel of the folder" { // its folder is removed behind the test
				m = c.Command(wire.CommandCancel, struct{}{})
			}
			if got := result[wire.LoopResult](c, m); got.State != "ended" {
				t.Errorf("got %+v", got)
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
