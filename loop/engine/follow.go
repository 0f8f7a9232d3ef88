package engine

import (
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/executor"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// execHost is the loop as its executor knows it.
func (l *runs) execHost() executor.Host {
	return executor.Host{
		Start: l.start, OpenScope: l.openScope, Handle: l.handle, Tell: l.events.tellEvent, Emit: l.events.emit,
		Rest: func() { l.events.kept(setup.Session.Rest) }, Spent: l.hasSpent,
		Joined: l.conversation.join, Left: l.state.Steering.Leave, Said: l.conversation.said,
		Note: l.record.stands, Stop: l.ending.requestStop, Obey: func() { l.conversation.tell(); l.events.showCancelling() },
	}
}

// handle follows the running agent: it keeps the status and the limits up to
// date and hands every event on. The agent's reader calls it.
func (l *runs) handle(e stream.Event) {
	switch it := e.(type) {
	case stream.Heard:
		l.conversation.heard(it)
		return
	case stream.Question: // asker has it
		return
	case stream.Error: // of an agent that is ended: the end of the iteration says why
		if it.Kind == stream.KindAborted && l.ending.isEnding() {
			return
		}
	case stream.ToolCall:
		it.Dir = l.dir
		e = it
	case stream.ToolResult:
		l.refused.Add(l.walls.Refusals(it.Output, l.dir))
	}
	c := l.state.Follow(e)
	l.obs.Handle(e)
	if c.OverBudget {
		l.ending.wake()
	}
	if c.HasSpent {
		l.hasSpent(c.Warning)
	}
}

// tellEvent hands an event on that is about no run of the iteration's own.
func (l *events) tellEvent(e stream.Event) {
	switch e.(type) {
	case stream.ToolCall, stream.ToolResult:
		l.state.Status.Agents.Follow(e, time.Now())
		if executor.IsOurs(e) {
			l.record.stands()
		}
	}
	l.obs.Handle(e)
}

// isEnding says whether the running agent was asked to end.
func (l *ending) isEnding() bool {
	return l.state.Run.Ending || l.state.Wanted.Cause != ""
}

// hasSpent does what follows when some agent has used more.
func (l *runs) hasSpent(warning string) {
	if warning != "" {
		l.events.emit(loop.Warning{Message: warning})
	}
	l.files.noteSpending()
}
