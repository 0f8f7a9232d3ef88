package history

import "github.com/ralph-lsp/ralph-lsp/stream"

// The types of our own entries.
const (
	EventType = "assistant.event" // of "custom" entries
	InputType = "assistant.input" // of "custom_message" entries
)

// The values of chatEventType in entries of type EventType.
const (
	eventLoopStart      = "loop_start"
	eventIterationStart = "iteration_start"
	eventIterationEnd   = "iteration_end"
	eventLoopEnd        = "loop_end"
	eventToolResult     = "tool_result"
)

// resultPayload ends a tool call without being part of the model's context: it
// is a subagent's, or the call was interrupted, or there is no such call.
type resultPayload struct {
	ToolCallID string `json:"toolCallId"`
	Result     string `json:"result"`
	Orphan     bool   `json:"orphan,omitempty"` // there is no such call
}

// Spent is what agents used that a tool call had work. It isn't usage in pi's sense,
// which would be added to that of the turns.
type Spent struct {
	Cost       stream.Cost `json:"costUsd,omitzero"`
	Tokens     int64       `json:"totalTokens,omitempty"`
	DurationMs int64       `json:"durationMs,omitempty"`
}

// SpentOf returns nil where nothing is known.
func SpentOf(s stream.Spent) *Spent {
	if s == (stream.Spent{}) {
		return nil
	}
	return &Spent{s.Cost, max(s.Tokens, 0), s.Duration.Milliseconds()}
}

// Of is the reverse.
func (s *Spent) Of() stream.Spent {
	if s == nil {
		return stream.Spent{}
	}
	return stream.Spent{Cost: s.Cost, Tokens: max(s.Tokens, 0), Duration: DurationOf(s.DurationMs)}
}
