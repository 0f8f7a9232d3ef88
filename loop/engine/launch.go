package engine

import (
	"cmp"
	"fmt"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/crew"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/inbox"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/snapshots"
)

// running is an agent or a command at work. Only the engine's goroutine uses it.
type running struct {
	agent  progress.Running // nil until it runs
	isOver bool
	exit   backends.Exit
	err    error // it could not be started
}

// launch has a role run elsewhere. Its start, what it says and its end come as messages.
func (l *runs) launch(p crew.Part) *running {
	it := &running{}
	spec := p.Spec
	spec.Backend, spec.Args, spec.Dir = p.Role.Backend, p.Role.Args, cmp.Or(p.Dir, l.cfg.Folder)
	out := inbox.NewReader(&l.inbox, spec.Handler)
	if spec.Raw == nil { // else it is no agent
		spec.Handler, spec.Rest, spec.Ask = out, func() { out.Flush(func() { l.kept(setup.Session.Rest) }) }, l.desk.For(p.Below, p.As, out.Flush)
	}
	go func() {
		exit, err := l.runPart(p, spec, func(agent progress.Agent) {
			l.inbox.Tell(func() {
				it.agent = agent
				l.activity.Touch()
				p.Began(agent)
			})
			out.Begin()
		})
		out.Flush(nil)
		if err == nil && spec.Raw == nil {
			l.inbox.Do(func() {
				l.desk.End(p.Below) // nobody is left to hear the answer
				exit.Result.Denials = l.desk.WithoutDenied(exit.Result.Denials)
				if p.Ended != nil {
					p.Ended(exit)
				}
			})
		}
		if p.Close != nil {
			p.Close(l.inbox.Do)
		}
		l.inbox.Tell(func() {
			it.exit, it.err, it.isOver = exit, err, true
			if p.Over != nil {
				p.Over(err)
			}
		})
	}()
	return it
}

// runPart starts a role, and returns when it is gone with all that it started.
func (l *runs) runPart(p crew.Part, spec backends.Spec, began func(progress.Agent)) (exit backends.Exit, err error) {
	if p.Open != nil {
		if err := p.Open(&spec, l.inbox.Do); err != nil {
			return exit, err
		}
	}
	if p.Record != "" {
		file, err := snapshots.OpenRecord(l.cfg.RecordDir, l.id, p.Record)
		if err != nil {
			return exit, fmt.Errorf("recording: %w", err)
		}
		if file != nil {
			defer file.Close()
			spec.Record = file
		}
	}
	agent, err := l.start(spec)
	if err != nil {
		return exit, err
	}
	began(agent)
	return agent.Wait(), nil
}
