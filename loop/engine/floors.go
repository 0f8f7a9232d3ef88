package engine

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/hats"
	"github.com/ralph-lsp/ralph-lsp/internal/control"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/executor"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/inbox"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/relief"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/sentry"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/snapshots"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/tasks"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/plan"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// A loop is built in floors. Each is a type with the state that is its alone, and stands on the
// one below: it knows what that can do, and nothing of what is above. In their methods l is the
// loop as far as the floor knows it.

var _ loop.Handle = (*Loop)(nil)

// ports are what a loop begins with besides its configuration: its folder, its agents, and who sees it.
type ports struct {
	id    string
	store progress.Store
	start func(backends.Spec) (progress.Agent, error)
	obs   loop.Observer
	lock  *loopstate.Lock // of the folder; nil in tests
	owner loopstate.Owner

	moment func() // inbox.Inbox.Moment
}

// Loop is a loop under way: the engine, which decides what comes next. All its exported methods
// may be called from any goroutine.
type Loop struct {
	turns
	shift   relief.Shift  // who works while an agent is limited; only the engine's goroutine uses it
	asked   time.Time     // until when it waited for another loop's limit
	account string        // which one the last run asked, "" is unknown; the same as shift
	outage  relief.Outage // only the engine's goroutine uses it
}

// turns say whose run comes next, where hats hand over.
type turns struct {
	checks
	published []hats.Seen // by this loop's hats; only the engine's goroutine uses it
}

// checks find out whether what a run did is what was asked for.
type checks struct {
	runs
	plan    plan.Plan                 // as the run under way found it, or left it
	asked   []string                  // about the plan
	batch   tasks.Outcome             // of the run that is over, until it is settled; only the engine's goroutine uses it
	without atomic.Pointer[plan.Plan] // tasks that the user lets the agent take out of it
}

// runs start agents, and watch them until they end.
type runs struct {
	books
	refused sandbox.Refusals // by the walls
	ignored bool             // it was told that some output doesn't count; only the engine's goroutine uses it
}

// books are what is kept of the loop, and what its user writes: the state file and the record.
type books struct {
	talks

	fileMu sync.Mutex // one look at the state file, with what follows from it, at a time
}

// talks are what goes on between user and agents: questions, answers and guidance.
type talks struct {
	ground
	desk *ask.Desk // where agents ask
	mark string    // of this life of the loop's, in the ids of its questions: an answer may be to one of before
}

// ground is what a loop is and how it stands. It tells observers and other processes.
type ground struct {
	ports
	cfg   setup.Config
	host  setup.Host
	dir   string // the folder, without links
	scope *backends.Scope
	walls *sandbox.Walls // around all that runs; nil: none

	// Two locks are held while the loop does something, as is fileMu, so they are their own and
	// not that of state. Who needs more than one takes them in this order: fileMu, noteMu or emitMu, state.
	emitMu sync.Mutex // one event at a time reaches obs and the session
	noteMu sync.Mutex // one writes the lock's record at a time

	state     progress.Guarded // how it stands
	exec      executor.Executor
	snapshots snapshots.Taker
	departure departure
	sentry    sentry.Sentry
	server    *control.Server // for other processes; nil: they can ask for nothing

	inbox inbox.Inbox   // of the engine's goroutine
	spent chan struct{} // the run under way has spent more; 1-buffered

	isOver atomic.Bool // its last words are told, or are about to be
	once   sync.Once   // closes done
	done   chan struct{}
	end    loop.End // set before done is closed
}
