package engine

import (
	"bytes"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/tell"
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
	c := l.follow(e)
	l.emitMu.Lock()
	l.obs.Handle(e)
	l.emitMu.Unlock()
	if c.overBudget {
		l.poke()
	}
	if c.hasSpent {
		l.hasSpent(c.warning)
	}
}

// isEnding says whether the running agent was asked to end.
func (l *ground) isEnding() (ending bool) {
	l.look(func(p *progress) { ending = p.ending || p.cause != "" })
	return ending
}

// consequences is what follows from an agent's event.
type consequences struct {
	overBudget bool
	hasSpent   bool
	warning    string
}

// follow keeps up with the running agent.
func (p *progress) follow(e stream.Event) (c consequences) {
	st := &p.status
	switch e := e.(type) {
	case stream.SessionStart:
		overlay(&st.Session, e)
	case stream.Text:
		st.Retry = nil
		if e.ParentToolCallID == "" {
			p.goesOn = false
			p.line.add(e.Delta)
		}
	case stream.MessageEnd:
		if e.ParentToolCallID == "" {
			p.line.add("\n")
		}
	case stream.ToolCall: // its result will be answered, and it may work for long and spend more than is left
		st.Retry = nil
		p.goesOn = p.goesOn || e.ParentToolCallID == ""
		c.overBudget = p.goesOn && p.overCap()
		st.Tool = &loop.ToolStatus{Call: e, StartedAt: time.Now()}
		st.Agents.Follow(e, st.Tool.StartedAt)
		p.deeds.Begin(e, st.Tool.StartedAt)
	case stream.ToolResult:
		if st.Tool != nil && st.Tool.Call.ID == e.ID {
			st.Tool = nil
		}
		now := time.Now()
		st.Agents.Follow(e, now)
		p.deeds.End(e, now)
	case stream.Usage:
		c.warning, c.hasSpent = p.countUsage(e), true
		c.overBudget = p.goesOn && p.overCap()
	case stream.TurnEnd: // one that ends with tools is followed by another, which the budget may not allow
		p.goesOn = strings.HasPrefix(e.StopReason, "tool")
		c.overBudget = p.goesOn && p.overCap()
	case stream.Retry:
		st.Retry = retryOf(e)
	case stream.Quota:
		st.Quota = withQuota(st.Quota, e)
	case stream.Error:
		st.Error = loop.OneLine(e.Message)
	}
	return c
}

// retryOf is what an agent waits for.
func retryOf(e stream.Retry) *loop.RetryStatus {
	return &loop.RetryStatus{Attempt: e.Attempt, ResumeAt: time.Now().Add(e.Delay), Reason: string(e.Kind)}
}

// nearlySpent is the part of the cost cap of which the user is warned.
const nearlySpent = 0.8

// countUsage takes over what the run has used so far. It returns a warning when
// the cost cap is nearly spent.
func (p *progress) countUsage(u stream.Usage) (warning string) {
	st := &p.status
	p.current = u
	st.IterationCost = u.Cost
	st.Cost, st.Tokens = p.base.Cost.Plus(u.Cost), p.base.Tokens.Plus(u.Tokens)
	if u.Context > 0 {
		st.Context = u.Context
	}
	if u.ContextSize > 0 {
		st.ContextSize = u.ContextSize
	}
	limit := st.Limits.MaxCostUSD
	if limit > 0 && st.Cost.USD >= nearlySpent*limit && p.warned != limit {
		p.warned = limit
		return tell.USD(st.Cost.USD) + " of " + tell.USD(limit) + " are spent"
	}
	return ""
}

// hasSpent does what follows when some agent has used more.
func (l *runs) hasSpent(warning string) {
	if warning != "" {
		l.emit(loop.Warning{Message: warning})
	}
	l.noteSpending()
}

// overCap says whether the cost cap, or the user's budget, is reached.
func (p *progress) overCap() bool { return p.outOf() != "" }

// overlay replaces what the newer SessionStart knows.
func overlay(to *stream.SessionStart, from stream.SessionStart) {
	for _, f := range []struct{ to, from *string }{
		{&to.Version, &from.Version}, {&to.Provider, &from.Provider},
		{&to.Model, &from.Model}, {&to.SessionID, &from.SessionID},
	} {
		if *f.from != "" {
			*f.to = *f.from
		}
	}
}

// withQuota replaces the window's last report.
func withQuota(quotas []stream.Quota, q stream.Quota) []stream.Quota {
	updated := make([]stream.Quota, 0, len(quotas)+1)
	for _, old := range quotas {
		if old.Window != q.Window {
			updated = append(updated, old)
		}
	}
	return append(updated, q)
}

// lineBuffer keeps the last line of streamed text that isn't empty.
type lineBuffer struct{ buf []byte }

// maxLine is how much of a line is kept, in bytes; a status line shows less.
const maxLine = 400

func (b *lineBuffer) add(delta string) {
	if over := len(delta) - maxLine; over > 0 {
		delta = delta[over:]
	}
	if over := len(b.buf) + len(delta) - 2*maxLine; over > 0 { // seldom, as it moves the rest
		b.buf = append(b.buf[:0], b.buf[min(len(b.buf), over+maxLine/2):]...)
	}
	b.buf = append(b.buf, delta...)
}

func (b *lineBuffer) last() string {
	text := bytes.TrimRight(b.buf, " \t\r\n")
	text = text[bytes.LastIndexByte(text, '\n')+1:]
	return loop.OneLine(string(bytes.ToValidUTF8(text[max(0, len(text)-maxLine):], nil)))
}
