package loop

import (
	"context"
	"math"
	"strings"
	"time"

	"ralph-lsp/history"
	"ralph-lsp/loopstate"
	"ralph-lsp/stream"
)

// ledger is what the state file says of what the loop counts. A loop that was
// killed has nothing else to go on with, so the file is kept up to date while an
// agent spends.
type ledger struct {
	iteration int
	begun     bool
	cost      stream.Cost
	tokens    stream.Tokens
	elapsed   time.Duration
	inARow    loopstate.InARow
	hats      string // what each hat has cost, a line each
}

func ledgerOf(s loopstate.State) ledger {
	b := ledger{iteration: s.Iteration, begun: s.Begun, tokens: stream.Tokens(s.Tokens), elapsed: s.Elapsed, inARow: s.InARow}
	if s.CostUSD != nil {
		b.cost = stream.USD(*s.CostUSD)
	}
	b.hats = strings.Join(hatCostsOf(s.HatCosts).texts(), "\n")
	return b
}

// takeOver counts what the file says more than was written there: whoever writes a higher
// number wants it. A lower one isn't believed, as it may be of a buffer that an editor has read
// long ago, or an agent's. Where the file says anything else, it is to be written again: stale.
func (p *progress) takeOver(found ledger) (stale bool) {
	was := p.written
	if stale = found != was; !stale {
		return false
	}
	p.outdated = true
	// The run under way is part of these sums, and goes on.
	p.base.iterations += max(found.iteration-was.iteration, 0)
	p.base.elapsed += max(found.elapsed-was.elapsed, 0)
	p.base.tokens = p.base.tokens.Plus(found.tokens.Above(was.tokens))
	if found.cost.Known && found.cost.USD > was.cost.USD {
		p.base.cost = p.base.cost.Plus(stream.USD(found.cost.USD - was.cost.USD))
		was.cost = found.cost
	}
	was.iteration, was.elapsed = max(was.iteration, found.iteration), max(was.elapsed, found.elapsed)
	was.tokens = was.tokens.Plus(found.tokens.Above(was.tokens))
	p.written = was
	p.status.Cost, p.status.Tokens = p.base.cost.Plus(p.current.Cost), p.base.tokens.Plus(p.current.Tokens)
	return true
}

// findCost makes the cost of a loop that was cut off at least what its session has: the file is
// written once a second, and the session with each answer.
func (l *Loop) findCost(s *loopstate.State) {
	if s.SessionFile == "" || !s.Begun {
		return
	}
	kept, err := history.CostOfLoop(s.SessionFile, s.LoopID)
	if err == nil && kept.Known && (s.CostUSD == nil || *s.CostUSD < kept.USD) {
		s.CostUSD = &kept.USD
	}
}

// enter puts into a state what is ours to write: the iteration that runs or runs
// next, and what the loop has used, with the run under way.
func (p *progress) enter(s *loopstate.State) {
	s.Iteration, s.Begun = p.base.iterations+1, p.underWay
	s.Elapsed = p.elapsed().Truncate(time.Millisecond)
	s.Tokens = loopstate.Tokens(p.base.tokens.Plus(p.current.Tokens))
	s.InARow, s.UnknownCosts = p.counts.InARow, p.base.unknown
	s.HatCosts = p.hatCosts().texts()
	p.proof.enter(s)
	reopen(s)
	s.Guided = nil
	for _, g := range p.guiding {
		s.Guided = append(s.Guided, g.Text)
	}
	s.CostUSD = nil
	if cost := p.base.cost.Plus(p.current.Cost); cost.Known {
		usd := math.Round(max(cost.USD, 0)*1e6) / 1e6 // sums of floats have long tails
		s.CostUSD = &usd
	}
}

// save writes what the loop has used into the state file, after taking over what
// the user has changed there, and what edit changes besides. The caller holds fileMu.
func (l *Loop) save(edit func(*loopstate.State)) (loopstate.State, error) {
	return l.saveBy(l.store.Update, edit)
}

// saveBy is save by one of the store's ways to update.
func (l *Loop) saveBy(update func(func(*loopstate.State) error) (loopstate.State, error), edit func(*loopstate.State)) (loopstate.State, error) {
	var heard []Guidance
	var answers, rules []string
	var held loosened
	state, err := update(func(s *loopstate.State) error {
		var stale bool
		l.change(func(p *progress) {
			held = p.hold(s)
			stale = p.takeOver(ledgerOf(*s))
			p.enter(s)
			heard = p.enterHeard(s)
			answers, rules = p.enterAsks(s)
		})
		if stale {
			l.noteSpending()
		}
		edit(s)
		return nil
	})
	if err == nil {
		l.change(func(p *progress) {
			p.written = ledgerOf(state)
			p.outdated = false
			p.wroteHeard(heard)
			p.known.Allowed = state.Allowed
			p.desk.Wrote(state.Allowed, rules)
		})
	}
	l.takeAnswers(answers)
	l.askTerms(held)
	return state, err
}

func (l *Loop) setUnderWay(now bool) {
	l.change(func(p *progress) { p.underWay = now })
}

// noteSpending has what the run under way has spent written down.
func (l *Loop) noteSpending() {
	select {
	case l.spent <- struct{}{}:
	default:
	}
}

// noteAtOnce is noteSpending for what others wait to see in the file.
func (l *Loop) noteAtOnce() {
	l.noteSpending()
	select {
	case l.hurry <- struct{}{}:
	default:
	}
}

// bookInterval is the least time between two writes of what a run spends. Each
// waits for the disk, and an editor that has the file open reads it again.
const bookInterval = time.Second

// keepBooks writes down what runs spend while they do, at once when the last time
// is long enough ago. Nobody waits for it.
func (l *Loop) keepBooks(ctx context.Context) {
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
		case <-l.hurry:
		case <-time.After(bookInterval):
		}
	}
}

// writeSpending writes down what the run under way has spent. When it is over,
// whatever comes next has done that; but numbers that an editor has brought back
// don't stay, not even in a pause.
func (l *Loop) writeSpending() {
	defer l.tellOuter()
	l.fileMu.Lock()
	defer l.fileMu.Unlock()
	var isDue bool
	l.look(func(p *progress) { isDue = p.underWay || p.outdated || p.proof.checking })
	if isDue {
		l.save(func(*loopstate.State) {}) // a failure shows at the next iteration
	}
}
