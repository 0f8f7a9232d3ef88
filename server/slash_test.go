package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/server/rpc"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// Wherever a start's text is, the commands that users of agents know are understood.
func TestTextsThatAreCommands(t *testing.T) {
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	agent := agentThat(t, "never")
	fields := map[string]func(text string) wire.StartParams{
		"text":                func(text string) wire.StartParams { return wire.StartParams{Text: text} },
		"text behind flags":   func(text string) wire.StartParams { return wire.StartParams{Text: "--max-failures 2 " + text} },
		"prompt":              func(text string) wire.StartParams { return wire.StartParams{Prompt: text} },
		"prompt beside flags": func(text string) wire.StartParams { return wire.StartParams{Text: "--max-failures 2", Prompt: text} },
		"selection":           func(text string) wire.StartParams { return wire.StartParams{Selection: text} },
	}
	for field, with := range fields {
		start := with(`/ralph-loop "Build X" --max-iterations 3`)
		start.Backend, start.DryRun = agent, true
		dry := result[answers.DryRunResult](c, c.Command(wire.CommandStart, start))
		if *dry.Limits.MaxIterations != 3 || dry.Sources["prompt"] != "start" {
			t.Errorf("%s: %+v", field, dry)
		}
		start.MaxIterations = new(5)
		if dry := result[answers.DryRunResult](c, c.Command(wire.CommandStart, start)); *dry.Limits.MaxIterations != 5 {
			t.Errorf("%s: the start's own limit loses: %+v", field, dry)
		}
		help := result[wire.SlashResult](c, c.Command(wire.CommandStart, with("/ralph-help")))
		if help.Command != "/ralph-help" || help.HelpResult == nil || help.Markdown != service.Help().Markdown || !strings.Contains(help.Markdown, "`--verify CMD`") || help.LoopResult != nil {
			t.Errorf("%s: %+v", field, help)
		}
		cancel := with("/cancel-ralph")
		if idle := result[wire.SlashResult](c, c.Command(wire.CommandStart, cancel)); idle.LoopResult == nil || idle.State != wire.StateIdle {
			t.Errorf("%s: %+v", field, idle)
		}
		start.DryRun = false
		c.Must(c.Command(wire.CommandStart, start))
		cancel.DryRun = true
		if dry := result[wire.SlashResult](c, c.Command(wire.CommandStart, cancel)); dry.Command != "/cancel-ralph" || dry.LoopResult != nil {
			t.Errorf("%s: %+v", field, dry)
		}
		c.status(dir, inState("running")) // a dry run leaves it alone
		cancel.DryRun = false
		if got := result[wire.SlashResult](c, c.Command(wire.CommandStart, cancel)); got.LoopResult == nil || got.State != string(loop.StateEnded) {
			t.Errorf("%s: %+v", field, got)
		}
	}
	for _, bad := range []string{"/cancel-ralph now", `/ralph-loop x --max-iteration 3`} {
		if m := c.Command(wire.CommandStart, wire.StartParams{Prompt: bad, Choices: wire.Choices{Backend: agent}}); m.Error == nil || m.Error.Code != rpc.CodeInvalidParams {
			t.Errorf("%q: %s", bad, m.Result)
		}
	}
}

func TestAPromptFileIsTakenAsItIs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	agent := agentThat(t, "echoes")
	file := filepath.Join(dir, "PROMPT.md")
	start := wire.StartParams{PromptURI: wire.FileURI(file), Choices: wire.Choices{Backend: agent, Values: settings.Values{Given: limits.Given{MaxIterations: new(1)}}}}
	for prompt, ok := range map[string]bool{"/ralph-loop Build --max-iterations 3": true, "/cancel-ralph is slow": true, "/cancel-ralph\n": false} {
		must.OK(t, os.WriteFile(file, []byte(prompt), 0o600))
		m := c.Command(wire.CommandStart, start)
		if !ok {
			if reason(t, m) != wire.ReasonBadPrompt {
				t.Errorf("%q: %+v", prompt, m.Error)
			}
			continue
		}
		c.Must(m)
		c.Hears("ralph/update", prompt)
		c.status(dir, inState("ended"))
	}
}
