package start

import (
	"context"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// wall puts up the walls that the start or the files want, and again those that a loop had, which only its user takes away.
// Programs are asked for their versions behind them, with the context. from is who said which.
func (r Resolver) wall(ctx context.Context, cfg *setup.Config, from config.Source) context.Context {
	cfg.Sandbox = r.Settings.Sandbox
	cfg.Sandbox.Mode = cfg.Values.Sandbox
	if r.Was != nil && cfg.Sandbox.Engine == "" {
		cfg.Sandbox.Engine = r.Was.SandboxEngine
	}
	ctx = backends.ForLoop(ctx, cfg.Sandbox, r.Settings.Files.Folder)
	if r.Was == nil {
		r.offerSandbox(ctx, cfg, from)
	}
	return ctx
}

// offerOfSandbox is what config remembers that it was made.
const offerOfSandbox = "sandbox"

// offerSandbox has the user told of the sandbox at their first start, if nobody has said anything of
// them yet, and they work here.
func (r Resolver) offerSandbox(ctx context.Context, cfg *setup.Config, from config.Source) {
	cfg.OfferSandbox = r.Attended && from == config.FromDefault && !cfg.Sandbox.IsOn() &&
		!r.Settings.Files.WasOffered(offerOfSandbox) && sandbox.Check(ctx, cfg.Sandbox.EngineOf()) == nil
}
