package loop

import (
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// AtWork are the tool calls that have agents work now, in the order of their beginnings.
type AtWork []ToolStatus

// maxAtWork bounds them: an agent may never tell how its calls end.
const maxAtWork = 64

// Follow keeps up with the loop's events.
func (a *AtWork) Follow(e stream.Event, now time.Time) {
	switch e := e.(type) {
	case stream.ToolCall:
		if _, ok := e.Subagent(); !ok {
			return
		}
		if len(*a) == maxAtWork {
			*a = slices.Delete(*a, 0, 1)
		}
		*a = append(*a, ToolStatus{Call: e, StartedAt: now})
	case stream.ToolResult:
		*a = slices.DeleteFunc(*a, func(t ToolStatus) bool { return t.Call.ID == e.ID })
	}
}

// Outermost are those that work for the loop, or for its agent: neither the agents of one
// of them, nor a call whose agents have calls of their own.
func (a AtWork) Outermost() AtWork {
	var found AtWork
	for _, t := range a {
		isList, isNested := false, false
		for _, other := range a {
			if other.Call.ID == t.Call.ParentToolCallID {
				of, _ := other.Call.Subagent()
				isNested = isNested || of.Count == 1
			}
			isList = isList || other.Call.ParentToolCallID == t.Call.ID
		}
		s, _ := t.Call.Subagent()
		if !isNested && (s.Count == 1 || !isList) {
			found = append(found, t)
		}
	}
	return found
}
