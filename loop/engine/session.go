package engine

import (
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
)

// kept has f tell the session something; where there is none it isn't called.
func (l *events) kept(f func(setup.Session)) {
	if s := l.host.Session; s != nil {
		f(s)
	}
}

// openSession takes up the file that a state file names. The user may have deleted it.
func (l *events) openSession(path string) (opened string) {
	l.kept(func(s setup.Session) { opened = s.Open(path, l.cfg.IsTransferred()) })
	return opened
}

// give tells what an iteration's agent is given.
func (l *engine) give(run setup.Run) {
	l.events.kept(func(s setup.Session) {
		s.Given(run.Prompt)
		if run.Refutation != "" {
			s.Given(run.Refutation)
		}
	})
	for _, g := range run.Steering {
		l.events.emit(loop.Told{Text: g.Text})
	}
}
