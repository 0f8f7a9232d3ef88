package start

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
)

// unanswered is how long a loop waits for its user where nobody looks at it and nobody has said.
const unanswered = 30 * time.Minute

// bound says for how long the loop waits for its user.
func bound(cfg *setup.Config) {
	cfg.Asking.Unanswered = unanswered
	if said := cfg.Values.AskTimeout; said != nil {
		cfg.Asking.Unanswered = time.Duration(*said)
	}
}

// letAsk has all agents of the loop ask their user.
func (r Resolver) letAsk(ctx context.Context, cfg *setup.Config) (err error) {
	if cfg.Values.Live == settings.Off {
		return errors.New(`an agent that asks you has to be live: leave out live = "off" (--no-live), or permissions = "ask"`)
	}
	if cfg.Asking.On = true; cfg.Values.AskTimeout != nil {
		cfg.Asking.Timeout = cfg.Asking.Unanswered
	}
	asking := func(b *backends.Backend, args []string, who string) {
		made, why := b.Asking(ctx, args)
		switch {
		case why == nil:
			*b = made
		case err == nil && who != "":
			err = fmt.Errorf("%s: %w", who, why)
		case err == nil:
			err = why
		}
	}
	if !cfg.Roles.HatsEmit() { // else its hats do all
		asking(&cfg.Backend, cfg.Args, "")
	}
	for who, role := range cfg.Others() {
		asking(&role.Backend, role.Args, who)
	}
	return err
}

// fallbacks are the agents that work while the loop's own is limited. The loop runs without one that
// can't, and says so.
func (r Resolver) fallbacks(ctx context.Context, cfg *setup.Config) error {
	for _, said := range r.Settings.Fallbacks {
		agent, err := r.catalog().named(ctx, Agent{Name: said.Backend}, r.Settings.Source("fallback"))
		if err != nil {
			return fmt.Errorf("fallback: %w", err)
		}
		if said.Model != "" && agent.backend.ModelFlag == "" {
			return fmt.Errorf("fallback: %w", &NoModelError{agent.backend.Name})
		}
		args := agent.args
		if agent.backend.Name == cfg.Backend.Name {
			args = cfg.Args
		}
		_, err = agent.backend.Find()
		if err == nil && cfg.Values.Permissions == settings.PermissionsAsk {
			_, err = agent.backend.Asking(ctx, args)
		}
		if err != nil {
			cfg.Warnings = append(cfg.Warnings, fmt.Sprintf("the fallback %s is left out: %v", said.Backend, err))
			continue
		}
		cfg.Fallbacks = append(cfg.Fallbacks, setup.Fallback{Role: setup.Role{Backend: agent.backend, Args: args},
			Model: said.Model, On: said.On})
	}
	return nil
}

// talk lets the agents be talked to that can be, where that is wanted. The error says which
// can't ask that has to.
func (r Resolver) talk(ctx context.Context, cfg *setup.Config) error {
	live := cfg.Values.Live
	if cfg.Values.Permissions == settings.PermissionsAsk {
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
		cfg.Warnings = append(cfg.Warnings, cfg.Backend.Name+" can't be told anything while it works (see docs/BACKENDS.md); "+
			"the next run is told")
	}
	return nil
}
