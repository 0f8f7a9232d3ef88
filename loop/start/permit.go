package start

import (
	"context"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// Permit is a way to let an agent run commands that else has them refused.
type Permit struct {
	Title   string
	Options Options // what the start says for it
}

// Permits are the ways for a loop whose agent may run no commands but those that its own
// settings allow, the safest first; none where its user has said what it may do.
func Permits(ctx context.Context, cfg setup.Config) []Permit {
	b := cfg.Backend
	_, isOwn := b.Permissions(cfg.Args)
	about := slices.DeleteFunc([]string{b.Tools.Only, b.Tools.Deny, b.Tools.Allow}, func(flag string) bool { return flag == "" })
	if len(b.Commands) == 0 || isOwn || cfg.Asking.On || len(cfg.Roles.Steps) > 0 || len(cfg.Roles.Hats) > 0 ||
		backends.HasFlag(cfg.Args, about...) {
		return nil
	}
	anything := Options{Agent: Agent{Args: b.Commands}}
	asking := Permit{"ask you before it runs a command", Options{Values: settings.Values{Permissions: settings.PermissionsAsk}}}
	switch behind := (Options{Agent: anything.Agent, Values: settings.Values{Sandbox: sandbox.Workspace}}); {
	case cfg.Sandbox.IsOn():
		return []Permit{{"run any command behind the walls", anything}, asking}
	case sandbox.Check(ctx, cfg.Sandbox.EngineOf()) == nil:
		return []Permit{{"run any command behind walls: it can write this folder and little else", behind}, asking,
			{"run any command, as you may", anything}}
	}
	return []Permit{asking, {"run any command, as you may", anything}}
}

// Flags are the permit's on a command line, behind arguments that the agent has already.
func (p Permit) Flags(args ...string) string {
	words := p.Options.Values.Flags(" ")
	if len(p.Options.Agent.Args) == 0 {
		args = nil
	}
	for _, arg := range append(slices.Clone(args), p.Options.Agent.Args...) {
		words = append(words, "--backend-arg", format.ShellWord(arg))
	}
	return strings.Join(words, " ")
}
