// Package crew is the agents of an iteration that has several: steps, one after the other and side by side, or
// the runs of a hat that works on several topics.
//
// A Crew is one agent to whoever waits for its run or ends it. Each member of it is a run of its own
// (member.go), shown below a call with its name (Below). The first that fails ends those beside it in a step, and
// what the last step promises counts when all of its agents promise it.
//
// All of it is done on the goroutine of the loop's engine, and only agents run elsewhere: what they say comes by that
// goroutine's inbox, which Host.Serve serves. What a crew needs of its loop is in a Host. It keeps nothing, and decides nothing of the loop: what its
// run came to is a Report, as that of any agent.
package crew

import (
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/guidance"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Host is what a crew needs of its loop.
type Host struct {
	Launch    func(Part)                      // has a role run elsewhere
	OpenScope func() (*backends.Scope, error) // for agents that are swept apart
	// Serve waits until something is so, which is asked behind all that happens, and when it is due; the zero time is never.
	Serve  func(until func() (isSo bool, due time.Time))
	Change func(func(*progress.State)) // changes how the loop stands, or looks

	Handle  func(stream.Event) // takes what a member did
	Tell    func(stream.Event) // hands on what is of no member
	Warn    func(message string)
	Changed func(besides []backends.Remains, agents []progress.Agent) // others run than before, these: in scopes besides the loop's

	Met      func(p *guidance.Partner, agent progress.Agent, backend backends.Backend, isFirst bool) // a member works
	Parted   func(*guidance.Partner)                                                                 // and does no more
	Said     func(p *guidance.Partner, text string)
	TakeBack func(call, id string) // a question

	Spent func(stream.Usage) // so much by now, by all of them
	Poke  func()             // has the loop look what is to be done
}

// now is how the loop stands.
func (h Host) now() (now progress.State) {
	h.Change(func(p *progress.State) { now = *p })
	return now
}

// Part is one run of a role.
type Part struct {
	setup.Role
	Below  string // the call under which its work is shown; "": it is the iteration's own
	As     string // its name where it asks the user something; "": the loop's own
	Record string // how the file of what it prints is called; "": it isn't kept
	backends.Spec

	// Elsewhere, and nil for nothing: what comes before its start, which may fill in the Spec and have something done on
	// the loop's goroutine, and what comes behind its end, whatever became of it.
	Open  func(spec *backends.Spec, sync func(func())) error
	Close func(sync func(func()))
	// On the loop's goroutine, the last two nil for nothing: it runs, it has ended, and all of it is over. An error
	// means that it could not be started.
	Began func(progress.Agent)
	Ended func(backends.Exit)
	Over  func(error)
}

// EndRun ends an agent whose iteration the user wants to be over.
func EndRun(agent progress.Running) {
	if a, ok := agent.(interface{ Abort(grace time.Duration) }); ok {
		a.Abort(backends.Grace)
		return
	}
	agent.Stop(backends.Grace)
}
