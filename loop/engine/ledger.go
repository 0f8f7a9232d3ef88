package engine

import (
	"context"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// save keeps what the loop has used, and what edit changes besides of what isn't the user's: the
// state file is left alone, as its user may be at it. The caller holds fileMu.
func (l *files) save(edit func(*loopstate.State)) error {
	_, err := l.saveBy(func(change func(*loopstate.State) error) (s loopstate.State, err error) {
		l.state.Look(func(p *progress.State) { s = p.Known.With(p.Known) })
		if err = change(&s); err == nil {
			err = l.store.Note(s)
		}
		return s, err
	}, edit)
	return err
}

// updating is one of the store's ways to update.
type updating func(func(*loopstate.State) error) (loopstate.State, error)

// saveBy is save by one of the store's ways to update, after taking over what the user has changed.
func (l *files) saveBy(update updating, edit func(*loopstate.State)) (loopstate.State, error) {
	var heard int
	var held progress.Loosened
	state, err := update(func(s *loopstate.State) error {
		l.state.Change(func(p *progress.State) {
			held = p.Hold(s)
			p.Enter(s)
			heard = p.Talk.EnterHeard(s)
		})
		edit(s)
		return nil
	})
	if err == nil {
		l.state.Change(func(p *progress.State) {
			p.Known = state
			p.Talk.Wrote(heard)
		})
	}
	l.askTerms(held)
	return state, err
}

func (l *files) setUnderWay(now bool) {
	l.state.Change(func(p *progress.State) { p.UnderWay = now })
}

// noteSpending has what the run under way has spent written down.
func (l *files) noteSpending() {
	select {
	case l.spent <- struct{}{}:
	default:
	}
}

// bookInterval is the least time between two writes of what a run spends. Each
// waits for the disk.
const bookInterval = time.Second

// keepBooks writes down what runs spend while they do, at once when the last time
// is long enough ago. Nobody waits for it.
func (l *files) keepBooks(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.spent:
		}
		l.writeSpending()
		select {
		case <-ctx.Done():
			return
		case <-time.After(bookInterval):
		}
	}
}

// writeSpending writes down what the run under way has spent. When it is over,
// whatever comes next has done that.
func (l *files) writeSpending() {
	_, _ = l.spending.countBudget() // what can't be counted is told before the next iteration
	l.fileMu.Lock()
	defer l.fileMu.Unlock()
	if now := l.state.Now(); now.UnderWay || now.Proof.Checking {
		l.save(func(*loopstate.State) {}) // a failure shows at the next iteration
	}
}
