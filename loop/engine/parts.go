package engine

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/executor"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/fallback"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/goal"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/inbox"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/sentry"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/snapshots"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/stagnation"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/tasks"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// Loop is a loop under way. All its methods may be called from any goroutine.
type Loop struct{ engine *engine }

// engine decides what comes next. All of its parts have one core: what the loop is, and how it stands. Each part is a
// type with a state of its own, and names the parts that it uses. Only the engine's goroutine uses them; others write
// to its inbox.
type engine struct {
	*core
	events       events
	record       record
	ending       ending
	questions    questions
	conversation conversation
	files        files
	waits        waits
	spending     spending
	runs         runs
	checks       checks
	planning     planning
}

// ports are what a loop begins with besides its configuration: its folder, its agents, and who sees it.
type ports struct {
	id    string
	store progress.Store
	start func(backends.Spec) (progress.Agent, error)
	obs   loop.Observer

	moment func() // inbox.Inbox.Moment
}

// core is what a loop is and how it stands. The engine's goroutine alone uses it.
type core struct {
	ports
	cfg   setup.Config
	host  setup.Host
	dir   string // the folder, without links
	scope *backends.Scope
	walls *sandbox.Sandbox // around all that runs; nil: none

	state      progress.State // how it stands
	inbox      inbox.Inbox    // of the engine's goroutine
	exec       executor.Executor
	snapshots  snapshots.Taker
	fallback   fallback.Policy   // chooses the agent while one is limited
	stagnation stagnation.Policy // whether the loop makes progress
	goal       goal.Policy       // tells the user what ends the loop
	tasks      tasks.Policy      // chooses a run's tasks and judges them
	hats       hats.Policy       // whose run comes next
	pending    *ask.Pending      // where agents ask
	sentry     sentry.Sentry
	verdicts   string // where a reaper writes that this process hung; "": nowhere

	isOver atomic.Bool // its last words are told, or are about to be
}

// events tell the loop's observer, and its session.
type events struct {
	*core
	record *record
}

// record is how the loop stands, for those who are not on its goroutine, and other processes.
type record struct {
	*core
	known atomic.Pointer[lastKnown]
}

// ending is how the loop comes to its end, and who waits for that.
type ending struct {
	*core
	events *events
	record *record
	once   sync.Once // closes done
	done   chan struct{}
	end    loop.End // set before done is closed
}

// questions are what agents, and the loop itself, ask the user.
type questions struct {
	*core
	ending *ending
	events *events
	files  *files
	record *record
	mark   string // of this life of the loop's, in the ids of its questions: an answer may be to one of before
}

// conversation is between the user and agents at work.
type conversation struct {
	*core
	ending *ending
	events *events
	files  *files
	record *record
}

// files are the state file, which the user writes too, and what is kept of the loop.
type files struct {
	*core
	ending       *ending
	events       *events
	questions    *questions
	record       *record
	spending     *spending
	conversation *conversation
	queue        inbox.Queue // one thing at a time is done with them
	isLooking    bool        // a look at the state file is in it
	isNoting     bool        // the spending of the run under way is to be written
	isStale      bool        // the last write hasn't all of it
	noted        time.Time   // when it was, last
}

// waits are the waits and pauses of a loop.
type waits struct {
	*core
	ending    *ending
	events    *events
	files     *files
	questions *questions
	record    *record
}

// spending looks after the budget of all loops, the loop's cap, and what isn't known of its costs.
type spending struct {
	*core
	ending *ending
	events *events
	waits  *waits
}

// runs are what the engine does about agents and their work.
type runs struct {
	*core
	ending       *ending
	events       *events
	files        *files
	record       *record
	conversation *conversation
	refused      sandbox.Refusals // by the walls
	ignored      bool             // it was told that some output doesn't count
}

// checks find out whether what a run did is what was asked for.
type checks struct {
	*core
	ending       *ending
	events       *events
	files        *files
	record       *record
	runs         *runs
	conversation *conversation
	waits        *waits
}

// planning is the loop as the policy of its plan knows it (tasks.Host).
type planning struct {
	*core
	events       *events
	questions    *questions
	runs         *runs
	conversation *conversation
	checks       *checks
}

// assemble makes an engine of its parts.
func assemble(c *core) *engine {
	l := &engine{core: c}
	l.events.core, l.events.record = c, &l.record
	l.record.core = c
	l.ending = ending{core: c, events: &l.events, record: &l.record, done: make(chan struct{})}
	l.questions = questions{core: c, ending: &l.ending, events: &l.events, files: &l.files, record: &l.record}
	l.conversation = conversation{core: c, ending: &l.ending, events: &l.events, files: &l.files, record: &l.record}
	l.files = files{
		core: c, ending: &l.ending, events: &l.events, questions: &l.questions, record: &l.record, spending: &l.spending,
		conversation: &l.conversation, queue: c.inbox.NewQueue(),
	}
	l.waits = waits{core: c, ending: &l.ending, events: &l.events, files: &l.files, questions: &l.questions, record: &l.record}
	l.spending = spending{core: c, ending: &l.ending, events: &l.events, waits: &l.waits}
	l.runs = runs{core: c, ending: &l.ending, events: &l.events, files: &l.files, record: &l.record, conversation: &l.conversation}
	l.checks = checks{
		core: c, ending: &l.ending, events: &l.events, files: &l.files, record: &l.record, runs: &l.runs,
		conversation: &l.conversation, waits: &l.waits,
	}
	l.planning = planning{
		core: c, events: &l.events, questions: &l.questions, runs: &l.runs, conversation: &l.conversation, checks: &l.checks,
	}
	return l
}
