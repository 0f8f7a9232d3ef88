package wire

import (
	"encoding/json"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Update is one entry of a ralph/update notification, with the names and the enums of the Agent Client Protocol;
// others are named _ralph/... A value that doesn't apply is left out of the JSON, never null. It is a struct of this
// package that begins with SessionUpdate, or a Raw.
type Update any

// The values of "sessionUpdate".
const (
	KindMessageChunk   = "agent_message_chunk"
	KindThoughtChunk   = "agent_thought_chunk"
	KindToolCall       = "tool_call"
	KindToolCallUpdate = "tool_call_update"
	KindUsage          = "usage_update"
	KindSession        = "_ralph/session"
	KindDiscard        = "_ralph/discard"
	KindIteration      = "_ralph/iteration"
	KindState          = "_ralph/state"
	KindRetry          = "_ralph/retry"
	KindCompaction     = "_ralph/compaction"
	KindTopic          = "_ralph/topic"
	KindGoal           = "_ralph/goal"
	KindPromise        = "_ralph/promise"
	KindVerify         = "_ralph/verify"
	KindGuidance       = "_ralph/guidance"
	KindLimits         = "_ralph/limits"
	KindWarning        = "_ralph/warning"
	KindError          = "_ralph/error"
	KindEnd            = "_ralph/end"
)

// TextContent is a content block of text.
type TextContent struct {
	Type string `json:"type"` // "text"
	Text string `json:"text"`
}

// Chunk is a piece of the agent's text or reasoning. Pieces of one message share its MessageID.
type Chunk struct {
	SessionUpdate    string      `json:"sessionUpdate"` // KindMessageChunk or KindThoughtChunk
	MessageID        string      `json:"messageId,omitempty"`
	ParentToolCallID string      `json:"parentToolCallId,omitempty"` // a subagent speaks
	Content          TextContent `json:"content"`
}

// ToolKind sorts tools for an editor's icons.
type ToolKind string

// The kinds of tools.
const (
	ToolRead    ToolKind = "read"
	ToolEdit    ToolKind = "edit"
	ToolDelete  ToolKind = "delete"
	ToolMove    ToolKind = "move"
	ToolSearch  ToolKind = "search"
	ToolExecute ToolKind = "execute"
	ToolThink   ToolKind = "think"
	ToolFetch   ToolKind = "fetch"
	ToolOther   ToolKind = "other"
)

// The values of a tool call's status.
const (
	StatusInProgress = "in_progress"
	StatusCompleted  = "completed"
	StatusFailed     = "failed"
)

// Location is a file that a tool works on.
type Location struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"` // 1 is the first
}

// ToolCall says that a tool starts.
type ToolCall struct {
	SessionUpdate    string          `json:"sessionUpdate"` // KindToolCall
	ToolCallID       string          `json:"toolCallId"`
	ParentToolCallID string          `json:"parentToolCallId,omitempty"`
	Name             string          `json:"name"`
	Title            string          `json:"title"` // the command, path, pattern or task, in one line: "scout 1/3: Find the parser"
	Kind             ToolKind        `json:"kind"`
	Status           string          `json:"status"` // StatusInProgress
	Locations        []Location      `json:"locations,omitempty"`
	RawInput         json.RawMessage `json:"rawInput,omitempty"`
	Subagent         *Subagent       `json:"subagent,omitempty"` // an agent at work; its updates have this call's id as parentToolCallId
	Step             *Step           `json:"step,omitempty"`
}

// ToolContent wraps a content block as a tool call's content.
type ToolContent struct {
	Type    string      `json:"type"` // "content"
	Content TextContent `json:"content"`
}

// ToolCallUpdate replaces a tool call's output so far, or ends the call.
type ToolCallUpdate struct {
	SessionUpdate    string        `json:"sessionUpdate"` // KindToolCallUpdate
	ToolCallID       string        `json:"toolCallId"`
	ParentToolCallID string        `json:"parentToolCallId,omitempty"`
	Status           string        `json:"status"` // StatusInProgress or StatusCompleted or StatusFailed
	Content          []ToolContent `json:"content,omitempty"`
	Omitted          *Omitted      `json:"omitted,omitempty"` // absent: the content is all of it
	Spent            stream.Spent  `json:"spent,omitzero"`    // at the end of a subagent, as far as it is known
	Facts            string        `json:"facts,omitempty"`   // the same in words: "12s · $0.0042 · 8.1k tokens"
}

// Output is the text of the content.
func (u ToolCallUpdate) Output() (text string) {
	for _, c := range u.Content {
		text += c.Content.Text
	}
	return text
}

// Omitted is how much of a tool's output an update leaves out. A line of the content stands in its place.
type Omitted struct {
	Lines int `json:"lines"` // 0: it is in the middle of one
	Bytes int `json:"bytes"`
}

// Money is an amount with its currency.
type Money struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"` // "USD"
}

// UsageUpdate is the context's fill in tokens, and the loop's cost so far.
type UsageUpdate struct {
	SessionUpdate string `json:"sessionUpdate"` // KindUsage
	Used          int64  `json:"used,omitempty"`
	Size          int64  `json:"size,omitempty"`
	Cost          *Money `json:"cost,omitempty"`
}

// SessionUpdate says who is at work; it may come again when more is known.
type SessionUpdate struct {
	SessionUpdate string `json:"sessionUpdate"` // KindSession
	stream.SessionStart
	Said
}

// Discard takes back the chunks of a message: the attempt failed. Other ends of messages are told by their chunks.
type Discard struct {
	SessionUpdate    string `json:"sessionUpdate"` // KindDiscard
	MessageID        string `json:"messageId,omitempty"`
	ParentToolCallID string `json:"parentToolCallId,omitempty"`
	Said
}

// The values of an iteration's phase.
const (
	PhaseBegin = "begin"
	PhaseEnd   = "end"
)

// Iteration opens an iteration.
type Iteration struct {
	SessionUpdate string `json:"sessionUpdate"` // KindIteration
	Phase         string `json:"phase"`         // PhaseBegin
	loop.IterationStart
	Facts string `json:"facts,omitempty"` // its text without what a heading says: "iteration 3"
	Said
}

// IterationEnd closes an iteration.
type IterationEnd struct {
	SessionUpdate string `json:"sessionUpdate"` // KindIteration
	Phase         string `json:"phase"`         // PhaseEnd
	loop.IterationEnd
	Facts string `json:"facts,omitempty"` // its text without what a heading says: the hat
	Said
}

// RecordedEnd closes a recorded stream, which is one run: it has the agent's text, and no duration.
type RecordedEnd struct {
	SessionUpdate string `json:"sessionUpdate"` // KindIteration
	Phase         string `json:"phase"`         // PhaseEnd
	loop.IterationEnd
	Duration    *stream.Duration `json:"durationMs,omitempty"` // nil
	Tokens      stream.Tokens    `json:"tokens"`
	LastMessage string           `json:"lastMessage"`
	Skipped     int              `json:"skippedLines"`
	Said
}

// StateChange says that the loop went into another state.
type StateChange struct {
	SessionUpdate string `json:"sessionUpdate"` // KindState
	loop.StateChanged
	Said // of one that waits or pauses
}

// Retry says that the agent itself waits and tries again.
type Retry struct {
	SessionUpdate string `json:"sessionUpdate"` // KindRetry
	stream.Retry
	Said
}

// Compaction says that the agent summarises its context, or has.
type Compaction struct {
	SessionUpdate string `json:"sessionUpdate"` // KindCompaction
	stream.Compaction
	Said
}

// Topic is what a run has handed over: an event block in its text, or a call of ralph-lsp emit. It comes when the run is over.
type Topic struct {
	SessionUpdate string `json:"sessionUpdate"` // KindTopic
	stream.Topic
	Said
}

// Goal says at the start of a loop what ends it.
type Goal struct {
	SessionUpdate string `json:"sessionUpdate"` // KindGoal
	loop.Goal
	Said
}

// Promise says why a loop goes on although the agent seems to have promised.
type Promise struct {
	SessionUpdate string `json:"sessionUpdate"` // KindPromise
	Matched       bool   `json:"matched"`
	loop.NearMiss
	Said
}

// Guidance acknowledges a piece of guidance.
type Guidance struct {
	SessionUpdate string `json:"sessionUpdate"` // KindGuidance
	loop.Guidance
	Said
}

// Limits says that the limits or the promise changed: all of them, in the form of a start. A missing one has no limit.
type Limits struct {
	SessionUpdate string `json:"sessionUpdate"` // KindLimits
	limits.Given
	Said
}

// Warning is something the user should know; the loop goes on.
type Warning struct {
	SessionUpdate string `json:"sessionUpdate"` // KindWarning
	loop.Warning
	Said
}

// ErrorUpdate is a failure of a run or of an attempt, never of a tool.
type ErrorUpdate struct {
	SessionUpdate string `json:"sessionUpdate"` // KindError
	Message       string `json:"message"`
	Retryable     bool   `json:"retryable"`
	Kind          string `json:"kind,omitempty"`
	Said
}

// MissingAgentUpdate tells of a start that found no agent. Only the terminal
// prints it: an editor gets the same as the data of an error.
type MissingAgentUpdate struct {
	ErrorUpdate
	MissingAgent
}

// MissingAgent has the details of an agent that isn't installed.
type MissingAgent struct {
	Checked []string          `json:"checked"`           // the programs that were looked for
	Path    string            `json:"path,omitempty"`    // where
	Install map[string]string `json:"install,omitempty"` // how to install each agent
}

// End is a loop's last update, without its prompt and its account, which the receipt has in words.
type End struct {
	SessionUpdate string `json:"sessionUpdate"` // KindEnd
	loop.End
	Receipt []Detail `json:"receipt,omitempty"` // further facts, for a table
	Said
}

// Verify tells how far the check of a loop's work has come. It runs again and again, with the output's end.
type Verify struct {
	SessionUpdate string `json:"sessionUpdate"` // KindVerify
	loop.Verify
	Said
}

// Answered says what the agent was told, or that it needn't be told any more.
type Answered struct {
	SessionUpdate string `json:"sessionUpdate"` // KindAnswer
	loop.Answered
	Said
}

// Raw is an update in its JSON, for who has read one back.
type Raw []byte

// MarshalJSON returns the update as it is.
func (u Raw) MarshalJSON() ([]byte, error) { return u, nil }

// The kinds of what comes from neither agent nor loop.
const (
	KindUserChunk = "user_message_chunk" // a UserChunk: a message to the agent
	KindNote      = "_ralph/note"        // a Note
)

// UserChunk is a piece of what the agent was told.
type UserChunk struct {
	SessionUpdate string      `json:"sessionUpdate"` // KindUserChunk
	MessageID     string      `json:"messageId,omitempty"`
	Content       TextContent `json:"content"`
}

// Note is a remark that no other update has, such as that one was too long for a bus.
type Note struct {
	SessionUpdate string `json:"sessionUpdate"` // KindNote
	Label         string `json:"label"`         // its subject
	Text          string `json:"text,omitempty"`
}
