package history

import (
	"encoding/json"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

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
	eventToolCall       = "tool_call"
	eventToolResult     = "tool_result"
	eventMessage        = "agent_message" // of a subagent
	eventThinking       = "thinking"
	eventDiscard        = "discard"
	eventCallback       = "agent_callback" // of other writers
)

// callPayload says that a tool began to run, and what was said just before. It
// comes before the message that holds both, which is written when its usage is
// known, and it is all that there is of them when the program dies meanwhile.
// Calls of subagents have no message.
type callPayload struct {
	MessageID        string          `json:"messageId,omitempty"`
	Text             string          `json:"text,omitempty"` // of the message since its last call
	ToolCallID       string          `json:"toolCallId"`
	ToolName         string          `json:"toolName"`
	Args             json.RawMessage `json:"args,omitempty"`
	ParentToolCallID string          `json:"parentToolCallId,omitempty"`
}

// resultPayload ends a tool call without being part of the model's context: it
// is a subagent's, or the call was interrupted, or there is no such call.
type resultPayload struct {
	ToolCallID       string `json:"toolCallId"`
	ToolName         string `json:"toolName,omitempty"`
	Result           string `json:"result"`
	IsError          bool   `json:"isError,omitempty"`
	Interrupted      bool   `json:"interrupted,omitempty"`
	Orphan           bool   `json:"orphan,omitempty"`
	ParentToolCallID string `json:"parentToolCallId,omitempty"`
	Spent            *Spent `json:"spent,omitempty"`
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

// messagePayload is what a subagent said, what the agent thought, or a message
// of which all that was said is taken back.
type messagePayload struct {
	MessageID        string `json:"messageId,omitempty"`
	Text             string `json:"text,omitempty"`
	ParentToolCallID string `json:"parentToolCallId,omitempty"`
}

// callbackPayload is what an agent said behind its tool call, in files of other writers.
type callbackPayload struct {
	MessageID        string `json:"messageId"`
	ParentToolCallID string `json:"parentToolCallId"`
	FromAgentID      string `json:"fromAgentId"`
	FromSessionID    string `json:"fromSessionId"`
	Result           string `json:"result"`
}
