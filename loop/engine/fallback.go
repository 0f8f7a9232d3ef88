package engine

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/relief"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// relieved is the configuration of a run, by a fallback where the loop's own agent would be refused. Roles with
// an agent of their own keep it: it was chosen for their work.
func (l *Loop) relieved(cfg setup.Config) setup.Config {
	s := &l.shift
	if len(l.cfg.Fallbacks) == 0 || cfg.Backend.Name != l.cfg.Backend.Name {
		return cfg
	}
	s.Ran, _ = s.Who(time.Now())
	if s.Ran > 0 {
		f := l.cfg.Fallbacks[s.Ran-1]
		cfg.Backend, cfg.Args, cfg.Model = f.Backend, f.Args, f.Model
	}
	if s.Ran != s.Told {
		l.emit(loop.Warning{Message: l.shiftText()})
		l.change(func(p *progress.State) {
			p.Status.Session = stream.SessionStart{Backend: cfg.Backend.Name, Model: cfg.Model}
		})
	}
	s.Told = s.Ran
	return cfg
}

// shiftText says who works from now on.
func (l *Loop) shiftText() string {
	own := filepath.Base(l.cfg.Backend.Name)
	if l.shift.Ran == 0 {
		return own + " works again"
	}
	f := l.cfg.Fallbacks[l.shift.Ran-1]
	text := filepath.Base(f.Backend.Name)
	if f.Model != "" {
		text += " with " + f.Model
	}
	return fmt.Sprintf("%s works until %s: %s is limited until then", text, l.shift.Own().Format(time.TimeOnly), own)
}

// relieve returns the pause after a run, none where another agent can work meanwhile. A fallback that can't even
// begin is no reason to end the loop: it isn't asked again before the own agent works.
func (l *Loop) relieve(p judge.Pause, r judge.Report, now time.Time) judge.Pause {
	s := &l.shift
	switch {
	case len(l.cfg.Fallbacks) == 0 || s.Ran < 0:
		return p
	case r.Unfit:
		s.Limit(s.Ran, "", s.Own())
		l.emit(loop.Warning{Message: "the fallback can't work: " + r.Problem})
	case r.Limited || r.Overloaded:
		s.Limit(s.Ran, relief.KindOf(r.Exit.Result, r.Overloaded, p.Until.Sub(now)), p.Until)
	default:
		return p
	}
	_, at := s.Who(now)
	if at.IsZero() {
		return judge.Pause{}
	}
	if p.Until = at; r.Unfit {
		p.Reason, p.Attempt = loop.WaitRateLimit, 1
	}
	return p
}
