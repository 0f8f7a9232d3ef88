package engine

import (
	"slices"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
)

// stands tells other processes how the loop stands, with what leads whoever has to end our agents if we can't to them.
func (l *record) stands() {
	p := &l.state
	l.publish()
	s := setup.Standing{
		Status: l.known.Load().status, Prompt: p.LastRead.Prompt,
		IsLeaving: p.Concluded || p.Wanted.Cause != "", IsLive: p.IsLive(), IsAtWork: p.Run.Running != nil,
		Remains: slices.Insert(slices.Clone(p.Run.Besides), 0, l.scope.Remains()),
	}
	for _, a := range p.Run.Agents {
		s.Agents = append(s.Agents, backends.Leftover{PID: a.PID(), Start: a.StartMark()})
	}
	l.host.Presence.Stands(s)
}
