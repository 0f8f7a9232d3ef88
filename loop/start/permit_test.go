package start

import (
	"slices"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

func TestHowAnAgentIsLetRunCommands(t *testing.T) {
	agent := func(name string, args ...string) setup.Config {
		b, err := backends.Lookup(name)
		must.OK(t, err)
		return setup.Config{Backend: b, Args: args}
	}
	flags := func(cfg setup.Config) (all []string) {
		for _, p := range Permits(t.Context(), cfg) {
			all = append(all, p.Flags(cfg.Args...))
		}
		return all
	}
	const bash, asks = "--backend-arg --allowedTools=Bash", "--permissions ask"
	want := []string{asks, bash}
	if sandbox.Check(t.Context(), sandbox.Bubblewrap) == nil {
		want = []string{"--sandbox workspace " + bash, asks, bash}
	}
	cfg := agent("claude")
	cfg.Sandbox.Engine = sandbox.Bubblewrap
	if got := flags(cfg); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	cfg = agent("claude", "--model", "my model")
	cfg.Sandbox.Mode = sandbox.Workspace
	if got := flags(cfg); !slices.Equal(got, []string{"--backend-arg --model --backend-arg 'my model' " + bash, asks}) {
		t.Errorf("behind walls: %q", got)
	}
	asking := agent("claude")
	asking.Asking.On = true
	inSteps := agent("claude")
	inSteps.Roles.Steps = [][]setup.Role{nil}
	for _, cfg := range []setup.Config{agent("pi"), asking, inSteps, agent("claude", "--permission-mode", "plan"), agent("claude", "--allowedTools=Bash(go *)"), agent("claude", "--dangerously-skip-permissions")} {
		if got := flags(cfg); got != nil {
			t.Errorf("%s %q: %q", cfg.Backend.Name, cfg.Args, got)
		}
	}
}
