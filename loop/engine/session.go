package engine

import "github.com/ralph-lsp/ralph-lsp/loop"

// Session keeps a loop in a file besides its state file, for later and for other programs. What
// it can't keep is no reason for a loop to stop. Its methods are called as an observer's are,
// between the events that belong there; who keeps a loop is its observer as well.
type Session interface {
	// Open takes up the file at a path, or prepares a new one for "", and returns where it is,
	// "" for a loop that isn't kept. handedOn: the path may be one of another process' only.
	Open(path string, handedOn bool) string
	// Begin comes before the first event, unless the loop can't begin.
	Begin(loop.Status)
	// Given is what an iteration's agent is given besides guidance.
	Given(text string)
	// Rest says that nothing of what the agent has said waits to be read.
	Rest()
	// Close comes before another may drive the loop; nil: it couldn't begin.
	Close(*loop.End)
}

// kept has f tell the session something, alone; where there is none it isn't called.
func (l *ground) kept(f func(Session)) {
	l.emitMu.Lock()
	defer l.emitMu.Unlock()
	if s := l.cfg.Session; s != nil {
		f(s)
	}
}

// openSession takes up the file that a state file names. The user may have deleted it.
func (l *ground) openSession(path string) (opened string) {
	l.kept(func(s Session) { opened = s.Open(path, l.cfg.isHandedOn()) })
	return opened
}

// rest is called by the agent's reader before it waits for more.
func (l *runs) rest() { l.kept(Session.Rest) }

// give tells what an iteration's agent is given.
func (l *Loop) give(plan plannedRun) {
	l.kept(func(s Session) {
		s.Given(plan.prompt)
		if plan.refutation != "" {
			s.Given(plan.refutation)
		}
	})
	for _, g := range plan.guidance {
		l.emit(loop.Told{Text: g.Text})
	}
}
