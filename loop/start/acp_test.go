package start

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// Agents of the Agent Client Protocol are named, or described in a file, and are talked to whoever
// looks.
func TestAgentsOfTheProtocol(t *testing.T) {
	for name, tt := range map[string]struct {
		file, agent, command, args, mode, may string
		isUnpriced                            bool
	}{
		"known": {agent: "acp:claude", command: "claude-agent-acp", mode: "acceptEdits", may: "may change files in the folder; commands only as its own settings allow"},
		"known, in another mode": {
			file: "[backends.\"acp:claude\"]\nmode = \"plan\"\nargs = [\"--x\"]", agent: "acp:claude", command: "claude-agent-acp", args: "--x", mode: "plan", may: "may do what its mode plan allows",
		},
		"known, without modes": {agent: "acp:pi", command: "pi-acp", isUnpriced: true, may: "asks nothing and may run any command"},
		"a user's own": {
			file: "[backends.mine]\nprotocol = \"acp\"\ncommand = \"my-agent\"\nargs = [\"--acp\"]\nenv = [\"A=1\"]\nmode = \"edits\"", agent: "mine", command: "my-agent", args: "--acp", mode: "edits", isUnpriced: true, may: "may do what its mode edits allows",
		},
		"a user's own that tells its cost": {
			file: "[backends.mine]\nprotocol = \"acp\"\ncommand = \"my-agent\"\ncost = true", agent: "mine", command: "my-agent", may: "may do whatever it does by itself: ralph-lsp doesn't know it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, _ := resolve(t, Resolver{Settings: settingsOf(t, tt.file), Start: Options{Agent: Agent{Name: tt.agent}}})
			b := cfg.Backend
			if b.Command != tt.command || b.Prompt != backends.PromptLive || b.Output != decode.FormatACP || b.Live.ACP.Mode != tt.mode || b.HasCost() == tt.isUnpriced || b.May != tt.may {
				t.Errorf("got %+v, %+v", b, b.Live.ACP)
			}
			if got := strings.Join(b.Argv(nil, cfg.Args), " "); got != tt.args {
				t.Errorf("it is run with %q", got)
			}
			if name == "a user's own" && !slices.Contains(b.Env, "A=1") {
				t.Errorf("its variables are %q", b.Env)
			}
		})
	}
}

// An agent that is to ask works in the mode in which it does, and claude's hooks run where its user wants that.
func TestWhatAnAgentOfTheProtocolIsTold(t *testing.T) {
	b, err := backends.Lookup("acp:claude")
	must.OK(t, err)
	cfg := setup.Config{Backend: backends.CustomACP(os.Args[0], nil, *b.Live.ACP)}
	if cfg.Backend, err = cfg.Backend.Asking(t.Context(), nil); err != nil || cfg.Backend.Live.ACP.Mode != "default" {
		t.Errorf("it asks in %+v, %v", cfg.Backend.Live.ACP, err)
	}
	if b.Live.ACP.Meta == nil || b.Live.ACP.Mode != "acceptEdits" {
		t.Errorf("the known one is now %+v", b.Live.ACP)
	}
	s := settingsOf(t, "[backends.\"acp:claude\"]\nsettings = \"user\"")
	hooked, _, err := Resolver{Settings: s}.catalog().lookup(t.Context(), "acp:claude")
	if runs, _ := hooked.HooksRun(nil); err != nil || !runs || !strings.Contains(fmt.Sprint(b.Live.ACP.Meta), "disableAllHooks") || strings.Contains(fmt.Sprint(hooked.Live.ACP.Meta), "disableAllHooks") {
		t.Errorf("hooks run: %v, told %v, %v", runs, hooked.Live.ACP.Meta, err)
	}
}
