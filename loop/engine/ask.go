package engine

import (
	"fmt"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
)

// openPending makes the place for the questions of the loop's agents.
func (l *questions) openPending() *ask.Pending {
	return &ask.Pending{
		On: l.cfg.Asking.On, Timeout: l.cfg.Asking.Timeout, Mark: l.mark,
		Reader: ask.Reader{
			Dir: l.dir, Folder: l.cfg.Folder,
			Hides: func(path string) bool { return l.walls.Hides(path) }, // the agent can read what it asks in the session file
		},
		Host: ask.Host{
			Told: func(q ask.Question, a *ask.Answer) {
				if a == nil {
					l.events.emit(loop.Asked{Question: q})
					return
				}
				l.events.emit(loop.AnswerTo(q, *a))
				l.exec.Activity.Excuse()
			},
			Changed: func() {
				l.showWaiting()
				l.record.stands()
				l.files.noteSpending()
				l.ending.wake()
			},
			IsOver: func(q ask.Question) bool {
				return l.state.Wanted.Cause != "" || l.state.Wanted.Skip && q.HoldsAgent()
			},
			Await: l.awaitWord, Later: l.inbox.Later,
		},
	}
}

// showWaiting tells the observer that the loop waits for the user, or has stopped waiting.
func (l *questions) showWaiting() {
	waits := l.pending.HoldsAgent()
	if waits == l.state.Run.Waits {
		return
	}
	if l.state.Run.Waits = waits; l.state.Status.State != loop.StateRunning {
		return
	}
	to := loop.StateChanged{State: loop.StateRunning}
	if waits {
		to = loop.StateChanged{State: loop.StateWaiting, Reason: loop.WaitPermission}
	}
	l.events.emit(to)
}

// disallow takes back what an answer has allowed.
func (l *questions) disallow(rule string) error {
	if !l.pending.Disallow(rule) {
		return fmt.Errorf("nothing allows %s in this loop", rule)
	}
	l.record.stands()
	return nil
}
