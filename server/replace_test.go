package server

import (
	"os"
	"testing"

	"ralph-lsp/loop"
	"ralph-lsp/loopstate"
)

// refusedStarts are starts that can't succeed.
func refusedStarts(agent string) map[string]any {
	return map[string]any{
		"no such program": StartParams{Prompt: "x", Replace: true, Choices: Choices{Backend: "/no/such/agent"}},
		"no program":      StartParams{Prompt: "x", Replace: true, Choices: Choices{Backend: os.DevNull}},
		"no prompt":       StartParams{Prompt: " \n", Replace: true, Choices: Choices{Backend: agent}},
		"a bad promise":   StartParams{Prompt: "x", Replace: true, Choices: Choices{Backend: agent, LimitParams: LimitParams{CompletionPromise: new("</promise>")}}},
		"a NUL byte":      StartParams{Prompt: "x", Replace: true, Choices: Choices{Backend: agent, Args: []string{"a\x00b"}}},
	}
}

func TestARefusedStartLeavesTheLoopItWouldReplace(t *testing.T) {
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	agent := agentThat(t, "never")
	first := result[StartResult](c, c.Command(CommandStart, StartParams{Prompt: "one", Choices: Choices{Backend: agent}}))
	c.status(dir, inState("running"))
	for name, start := range refusedStarts(agent) {
		if m := c.Command(CommandStart, start); m.Error == nil {
			t.Errorf("%s: %s", name, m.Result)
		}
		loops := result[StatusResult](c, c.Command(CommandStatus, struct{}{})).Loops
		if len(loops) != 1 || loops[0].LoopID != first.LoopID || loops[0].State != "running" {
			t.Fatalf("%s: %+v", name, loops)
		}
	}
}

func TestARefusedStartLeavesTheInterruptedLoop(t *testing.T) {
	dir := leftBehind(t, loopstate.State{Backend: "pi"})
	c := dial(t, optedIn, dir)
	for name, start := range refusedStarts(agentThat(t, "never")) {
		if m := c.Command(CommandStart, start); m.Error == nil {
			t.Errorf("%s: %s", name, m.Result)
		}
		if _, _, _, err := loop.FolderStatus(dir); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}
