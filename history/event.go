package history

import (
	"encoding/json"
	"time"

	"ralph-lsp/stream"
)

// The types of our own entries.
const (
	EventType = "assistant.event" // of "custom" entries
	InputType = "assistant.input" // of "custom_message" entries
)

// The values of chatEventType in entries of type EventType.
const (
	eventLoopStart      = "loop_start"
	eventGoal           = "goal"
	eventIterationStart = "iteration_start"
	eventIterationEnd   = "iteration_end"
	eventLoopEnd        = "loop_end"
	eventNearMiss       = "near_miss"
	eventGuidance       = "guidance"
	eventWarning        = "warning"
	eventLimits         = "limits"
	eventInterrupt      = "interrupt"
	eventSession        = "session_start"
	eventToolCall       = "tool_call"
	eventToolResult     = "tool_result"
	eventMessage        = "agent_message" // of a subagent
	eventThinking       = "thinking"
	eventDiscard        = "discard"
	eventError          = "error"
	eventRetry          = "retry"
	eventCompaction     = "compaction"
	eventCallback       = "agent_callback"
)

// eventOf names the records that stand in the file as they are.
func eventOf(r Record) string {
	switch r.(type) {
	case LoopStart:
		return eventLoopStart
	case Goal:
		return eventGoal
	case IterationStart:
		return eventIterationStart
	case IterationEnd:
		return eventIterationEnd
	case LoopEnd:
		return eventLoopEnd
	case NearMiss:
		return eventNearMiss
	case Guidance:
		return eventGuidance
	case Warning:
		return eventWarning
	case Limits:
		return eventLimits
	case Interrupt:
		return eventInterrupt
	}
	return ""
}

// recordOf decodes the payload of such a record; nil is none of them.
func recordOf(event string, payload []byte) (Record, error) {
	switch event {
	case eventLoopStart:
		return decodeRecord[LoopStart](payload)
	case eventGoal:
		return decodeRecord[Goal](payload)
	case eventIterationStart:
		return decodeRecord[IterationStart](payload)
	case eventIterationEnd:
		return decodeRecord[IterationEnd](payload)
	case eventLoopEnd:
		return decodeRecord[LoopEnd](payload)
	case eventNearMiss:
		return decodeRecord[NearMiss](payload)
	case eventGuidance:
		return decodeRecord[Guidance](payload)
	case eventWarning:
		return decodeRecord[Warning](payload)
	case eventLimits:
		return decodeRecord[Limits](payload)
	case eventInterrupt:
		return decodeRecord[Interrupt](payload)
	}
	return nil, nil
}

func decodeRecord[R Record](payload []byte) (Record, error) {
	var r R
	err := json.Unmarshal(payload, &r)
	return r, err
}

// sessionPayload says who is at work.
type sessionPayload struct {
	Backend   string `json:"backend,omitempty"`
	Version   string `json:"version,omitempty"`
	Provider  string `json:"provider,omitempty"`
	Model     string `json:"model,omitempty"`
	SessionID string `json:"sessionId,omitempty"`
}

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
}

// messagePayload is what a subagent said, what the agent thought, or a message
// of which all that was said is taken back.
type messagePayload struct {
	MessageID        string `json:"messageId,omitempty"`
	Text             string `json:"text,omitempty"`
	ParentToolCallID string `json:"parentToolCallId,omitempty"`
}

// callbackPayload is an answer that came after its tool call had ended. With a
// ParentToolCallID it is a message of ours, else it resolves the tool call, which
// other writers name by ToolCallID or by the MessageID in the tool's result.
type callbackPayload struct {
	MessageID        string `json:"messageId,omitempty"`
	ToolCallID       string `json:"toolCallId,omitempty"`
	ParentToolCallID string `json:"parentToolCallId,omitempty"`
	FromAgentID      string `json:"fromAgentId,omitempty"`
	FromSessionID    string `json:"fromSessionId,omitempty"`
	Result           string `json:"result"`
	IsError          bool   `json:"isError,omitempty"`
}

type errorPayload struct {
	Message   string           `json:"message"`
	Kind      stream.ErrorKind `json:"kind,omitempty"`
	Retryable bool             `json:"retryable,omitempty"`
	ResetsAt  time.Time        `json:"resetsAt,omitzero"`
}

type retryPayload struct {
	Attempt     int              `json:"attempt"`
	MaxAttempts int              `json:"maxAttempts,omitempty"`
	DelayMs     int64            `json:"delayMs"`
	Kind        stream.ErrorKind `json:"kind,omitempty"`
	Message     string           `json:"message,omitempty"`
}

type compactionPayload struct {
	Reason string `json:"reason,omitempty"`
	Done   bool   `json:"done,omitempty"`
	Error  string `json:"error,omitempty"`
}
