// Package fallback is the policy of a loop whose agent is limited: which agent works meanwhile, the loop's own or the
// first of its fallbacks that stands in for it, and how long none can. It knows agents by their numbers: 0 is the
// loop's own, its fallbacks follow in their order.
package fallback

import (
	"fmt"
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// longLimit is from when on a limit is one of a quota: the windows of subscriptions are hours and weeks.
const longLimit = time.Hour

// kindOf says what kind of limit a run met that was refused for so long.
func kindOf(r judge.Report, wait time.Duration) string {
	result := r.Exit.Result
	switch {
	case r.Overloaded:
		return settings.OnOverloaded
	case r.Unreached:
		return settings.OnNetwork
	case r.Broke, result.Rejected != nil, result.Failure != nil && result.Failure.Kind == stream.KindQuota, wait > longLimit:
		return settings.OnQuota
	}
	return settings.OnRateLimit
}

// Policy chooses the agent of one loop's runs. Its knowledge ends with its process: another one asks the loop's own
// agent again. It is for one goroutine.
type Policy struct {
	cfg   *setup.Config
	until []time.Time // when each agent can work again
	broke []bool      // whose account has no credits
	kind  string      // of the own agent's limit
	ran   int         // the agent that ran last; -1: a role without a stand-in
	told  int         // the agent that was told to work

	account string    // that the last run has asked, "" is unknown
	asked   time.Time // until when the loop waited for another loop's limit
	outage  time.Time // since when no provider can be reached; the zero time is not at all
}

// New is the policy of a loop by its configuration.
func New(cfg *setup.Config) Policy {
	n := 1 + len(cfg.Fallbacks)
	return Policy{cfg: cfg, until: make([]time.Time, n), broke: make([]bool, n)}
}

// Before returns until when no run begins, and why, because another loop was refused for the account of this one. It
// says so once: a user who resumes asks all the same. The zero time is now.
func (p *Policy) Before(now time.Time) (until time.Time, why string) {
	until = p.cfg.Accounts.Until(p.cfg.Account(), now)
	if p.cfg.Roles.HatsEmit() || !until.After(p.asked) {
		return time.Time{}, ""
	}
	p.asked = until
	p.limit(0, kindOf(judge.Report{}, until.Sub(now)), until)
	if _, at := p.who(now); at.IsZero() {
		return time.Time{}, ""
	}
	return until, fmt.Sprintf("the account of %s is limited until %s, as another loop was told: ralph-lsp resume asks before",
		p.cfg.Backend.Name, until.Local().Format("15:04"))
}

// Begin says that a run begins.
func (p *Policy) Begin() { p.ran, p.account = -1, "" }

// Agent is the configuration of the run, by a fallback where the loop's own agent would be refused, and what is to be
// told of that. Roles with an agent of their own keep it: it was chosen for their work. isSolo: one agent does the run.
func (p *Policy) Agent(cfg setup.Config, isSolo bool, now time.Time) (by setup.Config, news string) {
	if len(p.cfg.Fallbacks) > 0 && cfg.Backend.Name == p.cfg.Backend.Name {
		if p.ran, _ = p.who(now); p.ran > 0 {
			f := p.cfg.Fallbacks[p.ran-1]
			cfg.Backend, cfg.Args, cfg.Model = f.Backend, f.Args, f.Model
		}
		if p.ran != p.told {
			news = p.cfg.FallbackText(p.ran, p.until[0])
		}
		p.told = p.ran
	}
	if isSolo {
		p.account = cfg.Account()
	}
	return cfg, news
}

// After forgives a fallback that couldn't even begin, which ends no loop: the own agent is there. It tells the user's other
// loops until when the account is limited that the run has asked, or that it isn't.
func (p *Policy) After(r *judge.Report) {
	if r.Unfit = p.ran > 0 && r.NeverBegan && !r.Refused(); r.Unfit {
		r.Nobody, r.Unstartable = false, false
	}
	switch until := r.KnownUntil(); {
	case p.account == "":
	case !until.IsZero():
		p.asked = until // the loop waits for it already
		p.cfg.Accounts.Set(p.account, until)
	case r.Outcome == loop.OutcomeOK:
		p.cfg.Accounts.Set(p.account, time.Time{})
	}
}

// Settle is the pause after a run, and what is to be told of it.
func (p *Policy) Settle(r judge.Report, counts judge.Tally, now time.Time) (pause judge.Pause, news []string) {
	pause, problem := p.shorten(judge.PauseAfter(r, counts, now), r, now)
	for _, text := range []string{problem, p.reach(r, now)} {
		if text != "" {
			news = append(news, text)
		}
	}
	return pause, news
}

// limit notes that an agent can't work before a time.
func (p *Policy) limit(agent int, kind string, until time.Time) {
	if p.until[agent] = until; agent == 0 {
		p.kind = kind
	}
}

// who returns the number of the agent that can work now. Where none can, it is the loop's own, and at is when the
// first of them can again.
func (p *Policy) who(now time.Time) (agent int, at time.Time) {
	for agent, until := range p.until {
		switch {
		case agent > 0 && !p.standsIn(agent):
		case !until.After(now):
			return agent, time.Time{}
		case at.IsZero() || until.Before(at):
			at = until
		}
	}
	return 0, at
}

// shorten returns the pause after a run, none where another agent can work meanwhile. A fallback that can't even
// begin is no reason to end the loop: it isn't asked again before the own agent works, and problem says so.
func (p *Policy) shorten(pause judge.Pause, r judge.Report, now time.Time) (_ judge.Pause, problem string) {
	switch {
	case len(p.cfg.Fallbacks) == 0 || p.ran < 0:
		return pause, ""
	case r.Unfit:
		p.limit(p.ran, "", p.until[0])
		problem = "the fallback can't work: " + r.Problem
	case r.Limited || r.Overloaded || r.Unreached || r.Broke:
		p.limit(p.ran, kindOf(r, pause.Until.Sub(now)), pause.Until)
		p.broke[p.ran] = r.Broke
	default:
		p.broke[p.ran] = false
		return pause, ""
	}
	_, at := p.who(now)
	if at.IsZero() {
		return judge.Pause{}, problem
	}
	if pause.Until = at; r.Unfit || r.Broke && slices.Contains(p.broke, false) {
		pause.Reason, pause.Attempt = loop.WaitRateLimit, 1
	}
	return pause, problem
}

// standsIn says whether a fallback may replace the loop's own agent at the kind of limit that this one has reached.
func (p *Policy) standsIn(agent int) bool {
	on := p.cfg.Fallbacks[agent-1].On
	return on == nil || slices.Contains(on, p.kind)
}

// reach says once that no provider can be reached, and once that one is again; "" is nothing.
func (p *Policy) reach(r judge.Report, now time.Time) string {
	began := now.Add(-r.Exit.Duration)
	switch since := p.outage; {
	case r.Unreached && since.IsZero():
		p.outage = began
		return "the provider can't be reached since " + began.Local().Format("15:04") +
			", so the loop waits for the network; that counts for no limit"
	case !r.Unreached && !since.IsZero():
		p.outage = time.Time{}
		return "the provider is reached again, after " + format.Elapsed(began.Sub(since))
	}
	return ""
}
