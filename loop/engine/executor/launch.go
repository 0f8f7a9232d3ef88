package executor

import (
	"cmp"
	"fmt"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/inbox"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/snapshots"
)

// Part is one run of a role.
type Part struct {
	setup.Role
	Below  string // the call under which its work is shown; "": it is the iteration's own
	As     string // its name where it asks the user something; "": the loop's own
	Record string // how the file of what it prints is called; "": it isn't kept
	backends.Spec

	// Open and Close are called elsewhere, before the agent's start and after its end; nil: nothing. Open may fill in the
	// Spec. Both may run functions on the loop's goroutine (sync).
	Open  func(spec *backends.Spec, sync func(func())) error
	Close func(sync func(func()))
	// On the loop's goroutine, the last two nil for nothing: it runs, it has ended, and all of it is over. An error
	// means that it could not be started.
	Began func(progress.Agent)
	Ended func(backends.Exit)
	Over  func(error)
}

// running is what is at work.
type running struct {
	agent  progress.Running // nil until it runs
	isOver bool
	exit   backends.Exit
	err    error // it could not be started
}

// launch runs a role elsewhere. Its start, its events and its end come as messages.
func (x *Executor) launch(p Part) *running {
	it := &running{}
	spec := p.Spec
	spec.Backend, spec.Args, spec.Dir = p.Role.Backend, p.Role.Args, cmp.Or(p.Dir, x.Folder)
	out := inbox.NewReader(x.Inbox, spec.Handler)
	if spec.Raw == nil { // else it is no agent
		spec.Handler, spec.Rest, spec.Ask = out, func() { out.Flush(x.Rest) }, x.Pending.For(p.Below, p.As, out.Flush)
	}
	go func() {
		exit, err := x.run(p, spec, func(agent progress.Agent) {
			x.Inbox.Tell(func() {
				it.agent = agent
				x.Activity.Touch()
				p.Began(agent)
			})
			out.Begin()
		})
		out.Flush(nil)
		if err == nil && spec.Raw == nil {
			x.Inbox.Do(func() {
				x.Pending.End(p.Below) // nobody is left to hear the answer
				exit.Result.Denials = x.Pending.WithoutDenied(exit.Result.Denials)
				if p.Ended != nil {
					p.Ended(exit)
				}
			})
		}
		if p.Close != nil {
			p.Close(x.Inbox.Do)
		}
		x.Inbox.Tell(func() {
			it.exit, it.err, it.isOver = exit, err, true
			if p.Over != nil {
				p.Over(err)
			}
		})
	}()
	return it
}

// run starts a role, and returns when it is gone with all that it started.
func (x *Executor) run(p Part, spec backends.Spec, began func(progress.Agent)) (exit backends.Exit, err error) {
	if p.Open != nil {
		if err := p.Open(&spec, x.Inbox.Do); err != nil {
			return exit, err
		}
	}
	if p.Record != "" {
		file, err := snapshots.OpenRecord(x.RecordDir, x.LoopID, p.Record)
		if err != nil {
			return exit, fmt.Errorf("recording: %w", err)
		}
		if file != nil {
			defer file.Close()
			spec.Record = file
		}
	}
	agent, err := x.Start(spec)
	if err != nil {
		return exit, err
	}
	began(agent)
	return agent.Wait(), nil
}
