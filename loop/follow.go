package loop

import (
	"bytes"
	"strings"
	"time"

	"ralph-lsp/internal/tell"
	"ralph-lsp/stream"
)

// Handle follows the running agent: it keeps the status and the limits up to
// date and hands every event on. The agent's reader calls it.
func (l *Loop) Handle(e stream.Event) {
	l.mu.Lock()
	st := &l.status
	overBudget, warning := false, ""
	switch e := e.(type) {
	case stream.SessionStart:
		overlay(&st.Session, e)
	case stream.Text:
		st.Retry = nil
		if e.ParentToolCallID == "" {
			l.goesOn = false
			l.line.add(e.Delta)
		}
	case stream.MessageEnd:
		if e.ParentToolCallID == "" {
			l.line.add("\n")
		}
	case stream.ToolCall: // its result will be answered, and it may work for long and spend more than is left
		st.Retry = nil
		l.goesOn = l.goesOn || e.ParentToolCallID == ""
		overBudget = l.goesOn && l.overCap()
		st.Tool = &ToolStatus{Call: e, StartedAt: time.Now()}
	case stream.ToolResult:
		if st.Tool != nil && st.Tool.Call.ID == e.ID {
			st.Tool = nil
		}
	case stream.Usage:
		warning = l.countUsage(e)
		defer l.noteSpending()
		overBudget = l.goesOn && l.overCap()
	case stream.TurnEnd: // one that ends with tools is followed by another, which the budget may not allow
		l.goesOn = strings.HasPrefix(e.StopReason, "tool")
		overBudget = l.goesOn && l.overCap()
	case stream.Retry:
		l.activity.extend(e.Delay)
		st.Retry = &RetryStatus{Attempt: e.Attempt, ResumeAt: time.Now().Add(e.Delay), Reason: string(e.Kind)}
	case stream.Quota:
		st.Quota = withQuota(st.Quota, e)
	case stream.Error:
		st.Error = oneLine(e.Message)
	}
	l.mu.Unlock()

	l.emitMu.Lock()
	l.obs.Handle(e)
	l.mirror.writer.Handle(e)
	l.settle()
	l.emitMu.Unlock()
	if warning != "" {
		l.emit(Warning{Message: warning})
	}
	if overBudget {
		l.poke()
	}
}

// countUsage takes over what the run has used so far. It returns a warning when
// 80 % of the cost cap are spent. The caller holds mu.
func (l *Loop) countUsage(u stream.Usage) (warning string) {
	st := &l.status
	l.current = u
	st.IterationCost = u.Cost
	st.Cost, st.Tokens = l.base.cost.Plus(u.Cost), l.base.tokens.Plus(u.Tokens)
	if u.Context > 0 {
		st.Context = u.Context
	}
	if u.ContextSize > 0 {
		st.ContextSize = u.ContextSize
	}
	limit := st.Limits.MaxCostUSD
	if limit > 0 && st.Cost.USD >= 0.8*limit && l.warned != limit {
		l.warned = limit
		return tell.USD(st.Cost.USD) + " of " + tell.USD(limit) + " are spent"
	}
	return ""
}

// overCap says whether the cost cap is reached. The caller holds mu.
func (l *Loop) overCap() bool {
	limit := l.status.Limits.MaxCostUSD
	return limit > 0 && l.status.Cost.Known && l.status.Cost.USD >= limit
}

// overBudgetNow is overCap for who doesn't hold mu.
func (l *Loop) overBudgetNow() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.overCap()
}

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
	return oneLine(string(bytes.ToValidUTF8(text[max(0, len(text)-maxLine):], nil)))
}
