package engine

import (
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Handle follows the running agent: it keeps the status and the limits up to
// date and hands every event on. The agent's reader calls it.
func (l *runs) Handle(e stream.Event) {
	switch it := e.(type) {
	case stream.Heard:
		l.hasRead(it)
		return
	case stream.Question: // asker has it
		return
	case stream.Moot:
		l.desk.TakeBack("", it.ID)
		return
	case stream.MessageEnd:
		if it.ParentToolCallID == "" {
			l.hasSaid(l.self, it.Text)
		}
	case stream.Error: // of an agent that is ended: the end of the iteration says why
		if it.Kind == stream.KindAborted && l.isEnding() {
			return
		}
	case stream.ToolCall:
		it.Dir = l.dir
		e = it
	case stream.ToolResult:
		l.refused.Add(l.walls.Refusals(it.Output, l.dir))
	}
	c := l.state.Follow(e)
	l.emitMu.Lock()
	l.obs.Handle(e)
	l.emitMu.Unlock()
	if c.OverBudget {
		l.poke()
	}
	if c.HasSpent {
		l.hasSpent(c.Warning)
	}
}

// isEnding says whether the running agent was asked to end.
func (l *ground) isEnding() bool {
	now := l.state.Now()
	return now.Ending || now.Cause != ""
}

// hasSpent does what follows when some agent has used more.
func (l *runs) hasSpent(warning string) {
	if warning != "" {
		l.emit(loop.Warning{Message: warning})
	}
	l.noteSpending()
}
