package engine

import (
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// updating is one of the store's ways to update.
type updating func(func(*loopstate.State) error) (loopstate.State, error)

// nothing is what doesn't change a state file.
func nothing(*loopstate.State) {}

// saveBy keeps what the loop has used, and what edit changes besides, by one of the store's ways to update. It serves until
// that is done. then comes before anything else is done with the files.
func (l *files) saveBy(update updating, edit func(*loopstate.State), then func(loopstate.State, error)) {
	var state loopstate.State
	var err error
	l.queue.Do(func() { state, err = l.write(update, edit) }, func() { then(state, err) })
}

// save is saveBy for what isn't the user's: the state file is left alone, as its user may be at it.
func (l *files) save(edit func(*loopstate.State), then func(error)) {
	l.saveBy(l.note, edit, func(_ loopstate.State, err error) { then(err) })
}

// saveNow is save where nothing is changed besides. A failure shows at the next iteration.
func (l *files) saveNow() { l.save(nothing, func(error) {}) }

// note is a way to update that leaves the state file alone.
func (l *files) note(change func(*loopstate.State) error) (s loopstate.State, err error) {
	l.inbox.Do(func() { s = l.state.LastRead.With(l.state.LastRead) })
	if err = change(&s); err == nil {
		err = l.store.Note(s)
	}
	return s, err
}

// write is saveBy elsewhere, in its turn. It takes over the user's changes first.
func (l *files) write(update updating, edit func(*loopstate.State)) (loopstate.State, error) {
	var heard int
	var held progress.Loosened
	state, err := update(func(s *loopstate.State) error {
		return l.here(func() error {
			held = l.state.Hold(s)
			l.state.Enter(s)
			heard = l.state.Steering.Unkept()
			edit(s)
			return nil
		})
	})
	l.inbox.Do(func() {
		if err == nil {
			l.state.LastRead = state
			l.state.Steering.Kept(heard)
		}
		l.askTerms(held)
	})
	return state, err
}

// here does something on the engine's goroutine. A loop that is over does nothing.
func (l *files) here(do func() error) error {
	err := loop.ErrNotRunning
	l.inbox.Do(func() { err = do() })
	return err
}

// bookInterval is the least time between two writes of what a run spends. Each
// waits for the disk.
const bookInterval = time.Second

// noteSpending starts a write of what the run under way has spent, if the last one is long enough ago. Nobody waits
// for it. Changes during a write are in the next one.
func (l *files) noteSpending() {
	l.isStale = true
	if !l.isNoting {
		l.isNoting = true
		l.inbox.Later(max(time.Until(l.noted.Add(bookInterval)), 0), l.writeSpending)
	}
}

// writeSpending starts that write now. When the run is over, the next write has the spending.
func (l *files) writeSpending() {
	l.queue.Add(func() {
		_, _ = l.spending.countBudget() // an uncountable budget is told before the next iteration
		isDue := false
		l.inbox.Do(func() {
			isDue = l.state.UnderWay || l.state.Verification.Checking
			l.isStale = l.isStale && isDue
		})
		if isDue {
			_, _ = l.write(l.note, func(*loopstate.State) { l.isStale = false }) // a failure shows at the next iteration
		}
	}, func() {
		l.isNoting, l.noted = false, time.Now()
		if l.isStale {
			l.noteSpending()
		}
	})
}
