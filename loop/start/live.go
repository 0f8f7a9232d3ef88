package start

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/pflag"

	"ralph-lsp/backends"
	"ralph-lsp/config"
	"ralph-lsp/loop"
	"ralph-lsp/verify"
)

// Live says whether an agent is run such that it can be told something while it works;
// "" leaves that to the settings.
type Live string

// The values.
const (
	LiveAuto Live = config.Auto // where somebody is there to talk to it
	LiveOn   Live = "on"
	LiveOff  Live = "off"
)

// Valid says whether l is one of them, or "".
func (l Live) Valid() bool { return l == "" || l == LiveAuto || l == LiveOn || l == LiveOff }

// AddFlags adds its flags to a set.
func (l *Live) AddFlags(f *pflag.FlagSet) {
	flag := func(name, usage string, live Live) {
		f.BoolFunc(name, usage, func(text string) error {
			if text != "true" {
				return errors.New("it takes no value")
			}
			*l = live
			return nil
		})
	}
	flag("live", "let the agent be told something while it works, even if nobody is at the terminal (pi, claude)", LiveOn)
	flag("no-live", "tell it only with the next run", LiveOff)
}

// talk lets the agents be talked to that can be, where that is wanted. The error says which
// can't ask that has to.
func (r Resolver) talk(ctx context.Context, cfg *loop.Config) error {
	live := cmp.Or(r.Start.Live, Live(r.Settings.Live))
	if cmp.Or(r.Start.Ask.Permissions, r.Editor.Ask.Permissions, r.Settings.Permissions) == config.PermissionsAsk {
		return r.letAsk(ctx, cfg, live)
	}
	if live == LiveOff || live != LiveOn && !r.Attended {
		return nil
	}
	cfg.Backend = cfg.Backend.Talking(ctx, cfg.Args)
	for i := range cfg.Roles {
		cfg.Roles[i].Backend = cfg.Roles[i].Backend.Talking(ctx, cfg.Roles[i].Args)
	}
	for _, step := range cfg.Steps {
		for k, w := range step {
			step[k].Backend = w.Backend.Talking(ctx, w.Args)
		}
	}
	if cfg.Verify.Has(verify.ReviewerGate) {
		cfg.Reviewer.Backend = cfg.Reviewer.Backend.Talking(ctx, cfg.Reviewer.Args)
	}
	if live == LiveOn && cfg.Backend.Prompt != backends.PromptLive {
		cfg.Warnings = append(cfg.Warnings, cfg.Backend.Name+" can't be told anything while it works (see docs/BACKENDS.md); the next run is told")
	}
	return nil
}
