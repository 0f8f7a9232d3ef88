package engine

import (
	"slices"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/account"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/deeds"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/guidance"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/proof"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// guarded is a loop's progress and its lock. Only look, change and follow use them.
type guarded struct {
	mu   sync.Mutex
	held progress
}

// change lets f change the loop's progress, alone. f must be short: it doesn't
// block, emit, or look again.
func (g *guarded) change(f func(*progress)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f(&g.held)
}

// look is change for an f that only reads.
func (g *guarded) look(f func(*progress)) { g.change(f) }

// follow is change for an agent's event. There may be millions of them, so it
// does without a function value.
func (g *guarded) follow(e stream.Event) consequences {
	g.mu.Lock()
	c := g.held.follow(e)
	g.mu.Unlock()
	return c
}

// progress is all that changes about a loop while it runs.
type progress struct {
	status loop.Status // snapshot for Status; Elapsed is without the current run

	// What the loop has used.
	base     judge.Spent  // by earlier iterations
	current  stream.Usage // by the run under way so far
	counts   judge.Tally  // of the runs so far
	met      account.Account
	underWay bool   // an iteration is begun, and not counted yet
	busy     bool   // an agent, or what it wrote, is at work, see Loop.work
	wears    string // the hat that the run under way costs, where hats hand over

	proof proof.State
	purse pursed

	// The run under way.
	running    Agent         // nil between runs
	ending     bool          // it was asked to end, as a limit is reached or the next iteration is asked for
	longest    time.Duration // how long it may take; 0: no limit
	stopped    time.Duration // in which this process was stopped
	waited     time.Duration // for the user, before the run
	talk       guidance.Talk
	skip       bool // it was asked to end, as its user wants the next one
	desk       *ask.Desk
	waits      bool           // the observer was told that it waits for the user
	unanswered []ask.Question // those for which the loop ends
	goesOn     bool           // tools were called, so another turn follows
	deeds      deeds.Deeds
	line       lineBuffer

	concluded bool // nothing keeps the loop from its end any more; changes under fileMu

	// What the user wants.
	cause    loop.StopReason
	grace    time.Duration // of the stop that cause asks for
	paused   bool
	retryNow bool // a wait is to end
	lastRun  bool // no other iteration after this one

	known     loopstate.State // as it was read or kept last
	waitNoted bool            // until when the loop waits is known to whoever goes on

	// What the user was told.
	lonely      bool   // that nobody looks at the loop
	loosened    int    // times: that the state file would loosen the terms
	badFile     string // the last complaint about the state file
	broughtBack bool   // that it was removed
	partUnknown bool   // of what the run under way costs, as agents of it don't tell
	unpriced    int    // runs in a row of unknown cost for which the loop pauses
	promises    promiseNotes
	warned      float64 // the cost cap that is nearly reached
}

// snapshot is the loop's status now.
func (p *progress) snapshot() loop.Status {
	s := p.status
	s.Spent, s.Elapsed = p.base.Elapsed, p.elapsed()
	s.Quota, s.Agents = slices.Clone(s.Quota), slices.Clone(s.Agents)
	s.Hats = loop.HatsOf(p.hatCosts(), p.known)
	s.NoProgress, s.Unpriced, s.OverBudget = p.counts.NoProgress, p.unpriced, p.purse.why
	s.Refuted, s.Unchecked = p.counts.Refuted, p.proof.Unchecked
	s.LastLine = p.line.last()
	s.Pausing = p.paused && (s.State == loop.StateStarting || s.State == loop.StateRunning)
	s.Questions, s.Allowed = p.desk.Questions(), p.desk.Rules()
	if p.desk.HoldsAgent() && s.State == loop.StateRunning {
		s.State, s.Retry = loop.StateWaiting, nil
	}
	return s
}

// elapsed is the time that the loop has run.
func (p *progress) elapsed() time.Duration {
	if p.running == nil {
		return p.base.Elapsed
	}
	return p.base.Elapsed + time.Since(p.status.IterationStartedAt) - p.idle()
}

// idle is the time of the run under way that isn't its agent's: this process was stopped, or the
// user was asked.
func (p *progress) idle() time.Duration { return p.stopped + p.desk.Waited() - p.waited }

// beginRun has the time count for a run from now on.
func (p *progress) beginRun(now time.Time) {
	p.status.IterationStartedAt, p.stopped, p.waited = now, 0, p.desk.Waited()
}
