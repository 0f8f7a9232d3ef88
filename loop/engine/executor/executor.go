// Package executor runs the agents and the commands of a loop, and watches them until they end.
//
// An iteration is Work: steps one after the other, each with agents side by side. One agent is a step of one; a wave
// of a hat and the workers of a plan are a step whose agents work apart. Execute runs all of them; meanwhile they are
// one Execution for everybody who looks at the loop or ends it. Each agent is a run of its own (agent.go). Where
// there are several, each is shown below a call with its name (Subagent), the first that fails ends those beside it
// in a step, and the promise of the last step counts when all of its agents make it. Check runs a reviewer, or a
// command that verifies the work.
//
// All of it happens on the goroutine of the loop's engine. Only agents run elsewhere (launch.go): their start, their
// events and their end come by that goroutine's inbox, which is served meanwhile (watch.go). It decides nothing about
// the loop: the result of its agents is a judge.Report.
package executor

import (
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/inbox"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/sentry"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/snapshots"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/steering"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Executor runs the work of one loop. Only the goroutine of its engine uses it, but for Activity.
type Executor struct {
	Host
	State     *progress.State
	Inbox     *inbox.Inbox
	Pending   *ask.Pending // where agents ask
	Sentry    *sentry.Sentry
	Snapshots *snapshots.Taker
	Scope     *backends.Scope // in which all run that have none of their own
	Activity  Activity        // of whatever runs

	LoopID, Folder string
	RecordDir      string // for what agents print; "": it isn't kept

	last int // iteration with agents below calls
}

// Host is what an executor needs of its loop.
type Host struct {
	Start     func(backends.Spec) (progress.Agent, error)
	OpenScope func() (*backends.Scope, error) // for agents that are swept apart

	Handle func(stream.Event)   // takes what an agent of the iteration did
	Tell   func(stream.Event)   // hands on what is of none
	Emit   func(...loop.Event)  // hands on what is of the loop
	Rest   func()               // nothing of what an agent has said waits to be read
	Spent  func(warning string) // an agent has used more; "": there is nothing to warn of

	Joined func(l *steering.Listener, agent progress.Agent, backend backends.Backend, isFirst bool) // an agent works
	Left   func(*steering.Listener)                                                                 // and does no more
	Said   func(l *steering.Listener, text string)

	Note func()                               // has other processes know what runs
	Stop func(loop.StopReason, time.Duration) // has the loop end
	Obey func()                               // does what the user wants besides
}

// setRunning publishes what runs, and stops it if the loop's end was asked for while it started.
func (x *Executor) setRunning(agent progress.Running) {
	x.State.Run.Running = agent
	if one, ok := agent.(progress.Agent); ok { // several are told as they come and go
		x.State.Run.Agents = []progress.Agent{one}
	}
	if x.State.Wanted.Cause != "" {
		agent.Stop(x.State.Wanted.Grace)
	}
	x.Note()
}

func (x *Executor) warn(message string) { x.Emit(loop.Warning{Message: message}) }

// EndRun ends an agent whose iteration the user wants to be over.
func EndRun(agent progress.Running) {
	if a, ok := agent.(interface{ Abort(grace time.Duration) }); ok {
		a.Abort(backends.Grace)
		return
	}
	agent.Stop(backends.Grace)
}
