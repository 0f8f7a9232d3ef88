package start

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"ralph-lsp/backends"
	"ralph-lsp/config"
	"ralph-lsp/loop"
	"ralph-lsp/sandbox"
)

// Walls says whether there are walls around the agents; "" leaves that to the settings.
type Walls string

// modes are the values, the loosest first.
var modes = []string{sandbox.Off, sandbox.Workspace}

// Check says what is wrong with them, "" for nothing.
func (w Walls) Check() string {
	if w == "" || slices.Contains(modes, string(w)) {
		return ""
	}
	return fmt.Sprintf("is %q; write one of %s", string(w), strings.Join(modes, ", "))
}

// AddFlags adds its flag to a set.
func (w *Walls) AddFlags(f *pflag.FlagSet) {
	f.Var(w, "sandbox", "walls around the agent: `MODE` workspace lets it write the folder and little else, off what you may (see docs/SANDBOX.md)")
}

// Set is that of a flag.
func (w *Walls) Set(text string) error {
	choice := Choice{Of: modes}
	err := choice.Set(text)
	*w = Walls(choice.Value)
	return err
}

func (w *Walls) String() string { return string(*w) }

// Type is that of a flag's value.
func (w *Walls) Type() string { return "workspace|off" }

// wall puts up the walls that the start or the files want, and tells who wants them.
func (r Resolver) wall(cfg *loop.Config) config.Source {
	cfg.Sandbox = r.Settings.Sandbox
	cfg.Sandbox.Mode = cmp.Or(string(r.Start.Walls), cfg.Sandbox.Mode)
	return first(r.Start.Walls != "", false, r.Settings.Source("sandbox.mode"))
}

// keepWalls puts the walls up again that a loop had, which only its user takes away. Programs
// are asked for their versions behind them, with the context.
func (r Resolver) keepWalls(ctx context.Context, cfg *loop.Config, found Found) context.Context {
	r.wall(cfg)
	if r.Start.Walls == "" && found.Sandbox == sandbox.Workspace {
		cfg.Sandbox.Mode = found.Sandbox
	}
	if cfg.Sandbox.Engine == "" {
		cfg.Sandbox.Engine = found.SandboxEngine
	}
	return backends.ForLoop(ctx, cfg.Sandbox, r.Settings.Files.Folder)
}

// offerOfWalls is what config remembers that it was made.
const offerOfWalls = "sandbox"

// offerWalls has the user told of walls at their first start, if nobody has said anything of
// them yet, and they work here.
func (r Resolver) offerWalls(ctx context.Context, cfg *loop.Config, from config.Source) {
	cfg.OfferWalls = r.Attended && from == config.FromDefault && !cfg.Sandbox.IsOn() &&
		!r.Settings.Files.WasOffered(offerOfWalls) && sandbox.Check(ctx, cfg.Sandbox.EngineOf()) == nil
}
