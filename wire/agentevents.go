package wire

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// The kinds of agents' updates.
const (
	KindMessageChunk   = "agent_message_chunk"
	KindThoughtChunk   = "agent_thought_chunk"
	KindToolCall       = "tool_call"
	KindToolCallUpdate = "tool_call_update"
	KindUsage          = "usage_update"
	KindSession        = "_ralph/session"
	KindDiscard        = "_ralph/discard"
	KindRetry          = "_ralph/retry"
	KindCompaction     = "_ralph/compaction"
	KindError          = "_ralph/error"
)

// agentKinds read the updates of agents' events.
var agentKinds = map[string]func([]byte) Update{
	KindMessageChunk: decode[Chunk], KindThoughtChunk: decode[Chunk], KindDiscard: decode[Discard], KindToolCall: decode[ToolCall],
	KindToolCallUpdate: decode[ToolCallUpdate], KindUsage: decode[UsageUpdate], KindSession: decode[SessionUpdate],
	KindRetry: decode[Retry], KindCompaction: decode[Compaction], KindError: decode[ErrorUpdate],
}

// Event returns the update for an agent's event, or nil when there is none:
// a message's end was in its chunks, and a run's end comes as IterationEnd.
func (p *Projector) Event(e stream.Event) Update {
	switch e := e.(type) {
	case stream.SessionStart:
		return SessionUpdate{KindSession, sanitized(e), noticeOfSession(e)}
	case stream.Text:
		return chunk(KindMessageChunk, e.Delta, e.MessageID, e.ParentToolCallID)
	case stream.Thinking:
		return chunk(KindThoughtChunk, e.Delta, e.MessageID, e.ParentToolCallID)
	case stream.MessageEnd:
		if e.Discarded {
			return Discard{KindDiscard, e.MessageID, e.ParentToolCallID, Notice{Text: DiscardText, Class: ClassWarning}}
		}
	case stream.ToolCall:
		if len(p.calls) == maxCalls {
			p.calls = slices.Delete(p.calls, 0, 1)
		}
		p.calls = append(p.calls, outputUpdate(e.ID, e.ParentToolCallID, StatusFailed, history.InterruptedText))
		return ToolCallOf(e)
	case stream.ToolProgress:
		return outputUpdate(e.ID, "", StatusInProgress, e.Output)
	case stream.ToolResult:
		status := StatusCompleted
		if e.IsError {
			status = StatusFailed
		}
		p.calls = slices.DeleteFunc(p.calls, func(c ToolCallUpdate) bool { return c.ToolCallID == e.ID })
		end := outputUpdate(e.ID, e.ParentToolCallID, status, e.Output)
		end.Spent, end.Facts = e.Spent, SpentText(e.Spent)
		return end
	case stream.Usage:
		return p.projectUsage(e)
	case stream.Retry:
		return Retry{KindRetry, sanitized(e), Notice{Text: RetryText(e), Class: ClassWarning}}
	case stream.Compaction:
		return Compaction{KindCompaction, sanitized(e), Info(CompactionText(e))}
	case stream.Error:
		return ErrorUpdate{KindError, stream.Sanitize(e.Message), e.Kind.Retryable(), string(e.Kind),
			Notice{Text: Sentence(e.Message), Class: ClassError}}
	}
	return nil
}

// Chunk is a piece of the agent's text or reasoning. Pieces of one message share its MessageID.
type Chunk struct {
	SessionUpdate    string      `json:"sessionUpdate"` // KindMessageChunk or KindThoughtChunk
	MessageID        string      `json:"messageId,omitempty"`
	ParentToolCallID string      `json:"parentToolCallId,omitempty"` // a subagent speaks
	Content          TextContent `json:"content"`
}

func chunk(kind, delta, messageID, parent string) Chunk {
	return Chunk{kind, messageID, parent, TextContent{"text", stream.Sanitize(delta)}}
}

// Discard takes back the chunks of a message: the attempt failed. Other ends of messages are told by their chunks.
type Discard struct {
	SessionUpdate    string `json:"sessionUpdate"` // KindDiscard
	MessageID        string `json:"messageId,omitempty"`
	ParentToolCallID string `json:"parentToolCallId,omitempty"`
	Notice
}

// DiscardText takes back what an agent said before it has to try again.
const DiscardText = "the attempt failed; its text above doesn't count"

// SessionUpdate says who is at work; it may come again when more is known.
type SessionUpdate struct {
	SessionUpdate string `json:"sessionUpdate"` // KindSession
	stream.SessionStart
	Notice
}

// noticeOfSession names the agent once its model is known, which some agents tell later.
func noticeOfSession(e stream.SessionStart) Notice {
	if e.Model == "" {
		return Notice{}
	}
	return Info(SessionText(e))
}

// SessionText names the agent at work: "pi 0.87.1 · anthropic · claude-sonnet-4".
func SessionText(e stream.SessionStart) string {
	agent := e.Backend
	if e.Version != "" {
		agent += " " + e.Version
	}
	return OneLine(JoinFacts(agent, e.Provider, e.Model))
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

// outputUpdate is a tool's output, cut to what an update has room for.
func outputUpdate(id, parent, status, output string) ToolCallUpdate {
	u := ToolCallUpdate{SessionUpdate: KindToolCallUpdate, ToolCallID: id, ParentToolCallID: parent, Status: status}
	if output == "" {
		return u
	}
	excerpt, lines, bytes := format.Excerpt(output, MaxText) // before it is looked at any closer
	u.Content = []ToolContent{{"content", TextContent{"text", stream.Sanitize(excerpt)}}}
	if bytes > 0 {
		u.Omitted = &Omitted{lines, bytes}
	}
	return u
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

// projectUsage adds the run's cost to what earlier iterations cost; nil when
// the update would say nothing new.
func (p *Projector) projectUsage(e stream.Usage) Update {
	u := UsageUpdate{SessionUpdate: KindUsage, Used: e.Context, Size: e.ContextSize}
	if cost := CostOf(p.Spent.Plus(CostOf(e.Cost))); cost.Known {
		u.Cost = &Money{cost.USD, "USD"}
	}
	last := p.Usage
	if last.SessionUpdate = KindUsage; reflect.DeepEqual(u, last) {
		return nil
	}
	p.Usage = u
	return u
}

// Retry says that the agent itself waits and tries again.
type Retry struct {
	SessionUpdate string `json:"sessionUpdate"` // KindRetry
	stream.Retry
	Notice
}

// RetryText says what an agent waits for that tries again by itself.
func RetryText(e stream.Retry) string {
	attempt := fmt.Sprint(e.Attempt)
	if e.MaxAttempts > 0 {
		attempt = format.OfMax(e.Attempt, e.MaxAttempts)
	}
	return JoinFacts(fmt.Sprintf("the agent tries again in %s (attempt %s)", format.Elapsed(time.Duration(e.Delay)), attempt),
		Sentence(e.Message))
}

// Compaction says that the agent summarises its context, or has.
type Compaction struct {
	SessionUpdate string `json:"sessionUpdate"` // KindCompaction
	stream.Compaction
	Notice
}

// CompactionText says that the agent summarises its context.
func CompactionText(e stream.Compaction) string {
	switch {
	case e.Error != "":
		return "the agent could not summarise its context: " + Sentence(e.Error)
	case e.Done:
		return "the agent has summarised its context"
	}
	return "the agent summarises its context"
}

// ErrorUpdate is a failure of a run or of an attempt, never of a tool.
type ErrorUpdate struct {
	SessionUpdate string `json:"sessionUpdate"` // KindError
	Message       string `json:"message"`
	Retryable     bool   `json:"retryable"`
	Kind          string `json:"kind,omitempty"`
	Notice
}
