package start

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"ralph-lsp/backends"
	"ralph-lsp/config"
	"ralph-lsp/internal/limits"
	"ralph-lsp/internal/tell"
	"ralph-lsp/loop"
	"ralph-lsp/verify"
)

// Ask says whether agents ask their user before they do something; what is "" or nil is left
// to the settings.
type Ask struct {
	Permissions string         // config.PermissionsAsk or config.PermissionsAgent
	Timeout     *time.Duration // after which nobody's answer is a no; 0: never
}

// askOf is what a state file says. Only what asks more counts: anybody may have written it.
func askOf(permissions string, timeout time.Duration) (a Ask) {
	if permissions != config.PermissionsAsk {
		return a
	}
	if a.Permissions = permissions; timeout > 0 {
		a.Timeout = &timeout
	}
	return a
}

// Over is a where it says something, else below.
func (a Ask) Over(below Ask) Ask {
	return Ask{cmp.Or(a.Permissions, below.Permissions), cmp.Or(a.Timeout, below.Timeout)}
}

// Valid says whether Permissions can be.
func (a Ask) Valid() bool {
	return a.Permissions == "" || a.Permissions == config.PermissionsAsk || a.Permissions == config.PermissionsAgent
}

// AddFlags adds its flags to a set.
func (a *Ask) AddFlags(f *pflag.FlagSet) {
	f.Var((*permissions)(&a.Permissions), "permissions", "who says what the agent may do: its own settings, or you, each time (pi, claude)")
	f.Var((*timeout)(a), "ask-timeout", "deny what nobody has answered after this `DURATION`; 0 is never")
}

type permissions string

func (p *permissions) String() string { return string(*p) }
func (p *permissions) Type() string   { return config.PermissionsAgent + "|" + config.PermissionsAsk }
func (p *permissions) Set(text string) error {
	c := Choice{Of: []string{config.PermissionsAgent, config.PermissionsAsk}}
	err := c.Set(text)
	*p = permissions(c.Value)
	return err
}

type timeout Ask

func (t *timeout) Type() string { return "duration" }
func (t *timeout) String() string {
	if t.Timeout == nil {
		return ""
	}
	return tell.Duration(*t.Timeout)
}
func (t *timeout) Set(text string) error {
	d, err := limits.ParseSpan(text)
	if err != nil {
		return badValue("%v", err)
	}
	t.Timeout = &d
	return nil
}

// letAsk has all agents of the loop ask their user.
func (r Resolver) letAsk(ctx context.Context, cfg *loop.Config, live Live) (err error) {
	if live == LiveOff {
		return errors.New(`an agent that asks you has to be live: leave out live = "off" (--no-live), or permissions = "ask"`)
	}
	cfg.Ask, cfg.AskTimeout = true, r.Settings.AskTimeout
	if r.Start.Ask.Timeout != nil {
		cfg.AskTimeout = *r.Start.Ask.Timeout
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
	if !cfg.HandsOver() { // else its hats do all
		asking(&cfg.Backend, cfg.Args, "")
	}
	for i, role := range cfg.Roles {
		asking(&cfg.Roles[i].Backend, role.Args, "the hat "+role.Name)
	}
	for _, step := range cfg.Steps {
		for k, w := range step {
			asking(&step[k].Backend, w.Args, "the agent "+w.Agent)
		}
	}
	if cfg.Verify.Has(verify.ReviewerGate) {
		asking(&cfg.Reviewer.Backend, cfg.Reviewer.Args, "the reviewer "+cfg.Verify.Reviewer)
	}
	return err
}
