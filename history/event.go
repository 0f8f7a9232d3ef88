package history

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
