package engine

import (
	"context"
	"math"
	"time"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// findCost makes the cost of a loop that was cut off at least what its session has: what is spent
// is kept once a second, and the session is written with each answer.
func (l *books) findCost(s *loopstate.State) {
	if s.SessionFile == "" || !s.Begun {
		return
	}
	kept, err := history.CostOfLoop(s.SessionFile, s.LoopID)
	if err == nil && kept.Known && (s.CostUSD == nil || *s.CostUSD < kept.USD) {
		s.CostUSD = &kept.USD
	}
}

// enter puts into a state what the loop counts: the iteration that runs or runs
// next, and what it has used, with the run under way.
func (p *progress) enter(s *loopstate.State) {
	s.Iteration, s.Begun = p.base.Iterations+1, p.underWay
	s.Elapsed = p.elapsed().Truncate(time.Millisecond)
	s.Tokens = loopstate.Tokens(p.base.Tokens.Plus(p.current.Tokens))
	s.InARow, s.UnknownCosts, s.Account = p.counts.InARow, p.base.Unknown, p.met
	s.HatCosts, s.Allowed = p.hatCosts().Texts(), p.desk.Rules()
	p.proof.Enter(s)
	s.OverBudget = p.purse.why
	reopen(s)
	p.talk.Enter(s)
	s.CostUSD = nil
	if cost := p.base.Cost.Plus(p.current.Cost); cost.Known {
		usd := math.Round(max(cost.USD, 0)*1e6) / 1e6 // sums of floats have long tails
		s.CostUSD = &usd
	}
}

// save keeps what the loop has used, and what edit changes besides of what isn't the user's: the
// state file is left alone, as its user may be at it. The caller holds fileMu.
func (l *books) save(edit func(*loopstate.State)) error {
	_, err := l.saveBy(func(change func(*loopstate.State) error) (s loopstate.State, err error) {
		l.look(func(p *progress) { s = p.known.With(p.known) })
		if err = change(&s); err == nil {
			err = l.store.Note(s)
		}
		return s, err
	}, edit)
	return err
}

// saveBy is save by one of the store's ways to update, after taking over what the user has changed.
func (l *books) saveBy(update func(func(*loopstate.State) error) (loopstate.State, error), edit func(*loopstate.State)) (loopstate.State, error) {
	var heard int
	var held loosened
	state, err := update(func(s *loopstate.State) error {
		l.change(func(p *progress) {
			held = p.hold(s)
			p.enter(s)
			heard = p.talk.EnterHeard(s)
		})
		edit(s)
		return nil
	})
	if err == nil {
		l.change(func(p *progress) {
			p.known = state
			p.talk.Wrote(heard)
		})
	}
	l.askTerms(held)
	return state, err
}

func (l *ground) setUnderWay(now bool) {
	l.change(func(p *progress) { p.underWay = now })
}

// noteSpending has what the run under way has spent written down.
func (l *ground) noteSpending() {
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
func (l *books) keepBooks(ctx context.Context) {
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
func (l *books) writeSpending() {
	defer l.tellOuter()
	_, _ = l.countBudget() // what can't be counted is told before the next iteration
	l.fileMu.Lock()
	defer l.fileMu.Unlock()
	var isDue bool
	l.look(func(p *progress) { isDue = p.underWay || p.proof.Checking })
	if isDue {
		l.save(func(*loopstate.State) {}) // a failure shows at the next iteration
	}
}

// account adds a run to what the loop has used, and counts how it went.
func (p *progress) account(r judge.Report) {
	usage := r.Exit.Result.Usage
	r.Unpriced = p.partUnknown || !usage.Cost.Known && r.Exit.Result.Lines > 0 && !r.NeverBegan && (r.Woke || !r.Refused())
	p.counts.Add(r)
	p.partUnknown, p.underWay = false, false
	// A run that a provider refused is no iteration: a night of rate limits would use up --max-iterations. Neither
	// is one that its user ended, unless a limit or "next" did.
	if !r.Refused() && (r.Outcome != loop.OutcomeCancelled || r.Cause.Capped() || r.Cause == judge.Skipped || r.Cause == judge.StopSpent) {
		p.base.Iterations++
		if !r.NeverBegan { // it may be told again to the next one
			p.talk.Counted()
			p.proof.Refutation = ""
		}
	}
	p.base.Elapsed += r.Exit.Duration
	p.book(usage, r.Unpriced)
}

// book adds what a run has used to what the loop has.
func (p *progress) book(usage stream.Usage, isUnpriced bool) {
	p.current = stream.Usage{}
	p.base.Cost, p.base.Tokens = p.base.Cost.Plus(usage.Cost), p.base.Tokens.Plus(usage.Tokens)
	p.base.Hats, p.wears = p.base.Hats.Plus(p.wears, usage.Cost, isUnpriced), ""
	p.status.Cost, p.status.Tokens = p.base.Cost, p.base.Tokens
	p.bookUnknown(isUnpriced)
}
