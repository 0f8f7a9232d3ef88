package engine

import (
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/fallback"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// agentFor is the configuration of a run, by a fallback where the loop's own agent would be refused. Roles with
// an agent of their own keep it: it was chosen for their work.
func (l *fallbacks) agentFor(cfg setup.Config) setup.Config {
	s := &l.who
	if len(l.cfg.Fallbacks) == 0 || cfg.Backend.Name != l.cfg.Backend.Name {
		return cfg
	}
	s.Ran, _ = s.Who(time.Now())
	if s.Ran > 0 {
		f := l.cfg.Fallbacks[s.Ran-1]
		cfg.Backend, cfg.Args, cfg.Model = f.Backend, f.Args, f.Model
	}
	if s.Ran != s.Told {
		l.events.emit(loop.Warning{Message: l.cfg.FallbackText(s.Ran, s.Own())})
		l.state.Status.Session = stream.SessionStart{Backend: cfg.Backend.Name, Model: cfg.Model}
	}
	s.Told = s.Ran
	return cfg
}

// shareLimit tells the user's other loops until when the account is limited that a run has asked, or that it isn't.
func (l *fallbacks) shareLimit(r judge.Report) {
	switch until := r.KnownUntil(); {
	case l.account == "":
	case !until.IsZero():
		l.asked = until // who waits for it already doesn't wait once more
		l.cfg.Accounts.Set(l.account, until)
	case r.Outcome == loop.OutcomeOK:
		l.cfg.Accounts.Set(l.account, time.Time{})
	}
}

// awaitAccount waits where another loop was refused for the account of this one. Its user may have it ask all the same.
func (l *fallbacks) awaitAccount() {
	now := time.Now()
	until := l.cfg.Accounts.Until(l.cfg.Account(), now)
	if l.cfg.HandsOver() || !until.After(now) || !until.After(l.asked) {
		return
	}
	l.asked = until
	if l.who.Limit(0, fallback.KindOf(judge.Report{}, until.Sub(now)), until); len(l.cfg.Fallbacks) > 0 {
		if _, at := l.who.Who(now); at.IsZero() {
			return
		}
	}
	l.events.warnf("the account of %s is limited until %s, as another loop was told: ralph-lsp resume asks before",
		l.cfg.Backend.Name, until.Local().Format("15:04"))
	l.waits.wait(loop.WaitRateLimit, 1, until)
}
