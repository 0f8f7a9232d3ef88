// Package crew is the agents of an iteration that has several: steps, one after the other and side by side, or
// the runs of a hat that works on several topics.
//
// A Crew is one agent to whoever waits for its run or ends it. Each member of it is a run of its own
// (member.go), shown below a call with its name (Below). The first that fails ends those beside it in a step, and
// what the last step promises counts when all of its agents promise it.
//
// What a crew needs of its loop is in a Host. It keeps nothing, and decides nothing of the loop: what its
// run came to is a Report, as that of any agent.
package crew

import (
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/guidance"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Host is what a crew needs of its loop.
type Host struct {
	Play      func(Part) (backends.Exit, error) // runs a role to its end
	OpenScope func() (*backends.Scope, error)   // for agents that are swept apart

	Handle  func(stream.Event) // takes what a member did
	Tell    func(stream.Event) // hands on what is of no member
	Warn    func(message string)
	Changed func() // other agents run than before

	Met      func(p *guidance.Partner, agent progress.Agent, backend backends.Backend, isFirst bool) // a member works
	Parted   func(*guidance.Partner)                                                                 // and does no more
	Said     func(p *guidance.Partner, text string)
	TakeBack func(call, id string) // a question

	Promise  func() string          // that ends the loop, as it is now
	Guidance func() []loop.Guidance // for a member that begins
	Spent    func(stream.Usage)     // so much by now, by all of them
	Money    func() float64         // what may be spent, in US dollars; +Inf for no limit
	// OutOf says which limit of money is reached if so many US dollars more are spent, "" for none.
	OutOf func(reserved float64) loop.StopReason
	// Answered takes down what an answer has cost, and returns the most that one has in this loop, in US dollars.
	Answered func(usd float64) (most float64)
	Poke     func() // has the loop look what is to be done
}

// Part is one run of a role.
type Part struct {
	setup.Role
	Below  string // the call under which its work is shown; "": it is the iteration's own
	As     string // its name where it asks the user something; "": the loop's own
	Record string // how the file of what it prints is called; "": it isn't kept
	backends.Spec
	Began func(progress.Agent) // it runs
}

// EndRun ends an agent whose iteration the user wants to be over.
func EndRun(agent progress.Agent) {
	if a, ok := agent.(interface{ Abort(grace time.Duration) }); ok {
		a.Abort(backends.Grace)
		return
	}
	agent.Stop(backends.Grace)
}
