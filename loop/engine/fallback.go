package engine

import (
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
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
		l.emit(loop.Warning{Message: l.cfg.ShiftText(s.Ran, s.Own())})
		l.change(func(p *progress.State) {
			p.Status.Session = stream.SessionStart{Backend: cfg.Backend.Name, Model: cfg.Model}
		})
	}
	s.Told = s.Ran
	return cfg
}
