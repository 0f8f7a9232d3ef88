package start

import (
	"context"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loop/engine"
)

// talk lets the agents be talked to that can be, where that is wanted. The error says which
// can't ask that has to.
func (r Resolver) talk(ctx context.Context, cfg *engine.Config) error {
	live := cfg.Said.Live
	if cfg.Said.Permissions == settings.PermissionsAsk {
		return r.letAsk(ctx, cfg)
	}
	if live == settings.Off || live != settings.On && !r.Attended {
		return nil
	}
	cfg.Backend = cfg.Backend.Talking(ctx, cfg.Args)
	for _, role := range cfg.Others() {
		role.Backend = role.Backend.Talking(ctx, role.Args)
	}
	if live == settings.On && cfg.Backend.Prompt != backends.PromptLive {
		cfg.Warnings = append(cfg.Warnings, cfg.Backend.Name+" can't be told anything while it works (see docs/BACKENDS.md); the next run is told")
	}
	return nil
}
