package progress

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Consequences is what follows from an agent's event.
type Consequences struct {
	OverBudget bool
	HasSpent   bool
	Warning    string
}

// Follow applies an event of the running agent to Status: its session, tool, agents, wait, quota and error. Snapshot
// takes costs, tokens and time from State.
func (p *State) Follow(e stream.Event) (c Consequences) {
	st := &p.Status
	switch e := e.(type) {
	case stream.SessionStart:
		overlay(&st.Session, e)
	case stream.Text:
		st.Retry = nil
		if e.ParentToolCallID == "" {
			p.Run.GoesOn = false
			p.Run.line.add(e.Delta)
		}
	case stream.MessageEnd:
		if e.ParentToolCallID == "" {
			p.Run.line.add("\n")
		}
	case stream.ToolCall: // its result will be answered, and it may work for long and spend more than is left
		st.Retry = nil
		p.Run.GoesOn = p.Run.GoesOn || e.ParentToolCallID == ""
		c.OverBudget = p.Run.GoesOn && p.OverCap()
		st.Tool = &loop.ToolStatus{Call: e, StartedAt: time.Now()}
		st.Agents.Follow(e, st.Tool.StartedAt)
		p.Run.Tools.Begin(e, st.Tool.StartedAt)
	case stream.ToolResult:
		if st.Tool != nil && st.Tool.Call.ID == e.ID {
			st.Tool = nil
		}
		now := time.Now()
		st.Agents.Follow(e, now)
		p.Run.Tools.End(e, now)
	case stream.Usage:
		c.Warning, c.HasSpent = p.CountUsage(e), true
		c.OverBudget = p.Run.GoesOn && p.OverCap()
	case stream.TurnEnd: // one that ends with tools is followed by another, which the budget may not allow
		p.Run.GoesOn = strings.HasPrefix(e.StopReason, "tool")
		c.OverBudget = p.Run.GoesOn && p.OverCap()
	case stream.Retry:
		st.Retry = RetryOf(e)
	case stream.Quota:
		others := slices.DeleteFunc(slices.Clone(st.Quota), func(old stream.Quota) bool { return old.Window == e.Window })
		st.Quota = append(others, e)
	case stream.Error:
		st.Error = loop.OneLine(e.Message)
	}
	return c
}

// RetryOf is what an agent waits for.
func RetryOf(e stream.Retry) *loop.RetryStatus {
	return &loop.RetryStatus{Attempt: e.Attempt, ResumeAt: time.Now().Add(time.Duration(e.Delay)), Reason: string(e.Kind)}
}

// CountUsage takes over what the run has used so far. It returns a warning when
// the cost cap is nearly spent.
func (p *State) CountUsage(u stream.Usage) (warning string) {
	st := &p.Status
	p.Run.Current = u
	st.IterationCost = u.Cost
	if u.Context > 0 {
		st.Context = u.Context
	}
	if u.ContextSize > 0 {
		st.ContextSize = u.ContextSize
	}
	limit := st.Limits.MaxCostUSD
	if limit > 0 && p.Cost().USD >= NearlySpent*limit && p.Warned != limit {
		p.Warned = limit
		return format.USD(p.Cost().USD) + " of " + format.USD(limit) + " are spent"
	}
	return ""
}

// OverCap says whether the cost cap, or the user's budget, is reached.
func (p *State) OverCap() bool { return p.OutOf(0) != "" }

// overlay replaces what the newer SessionStart knows.
func overlay(to *stream.SessionStart, from stream.SessionStart) {
	to.Version, to.Provider = cmp.Or(from.Version, to.Version), cmp.Or(from.Provider, to.Provider)
	to.Model, to.SessionID = cmp.Or(from.Model, to.Model), cmp.Or(from.SessionID, to.SessionID)
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
