package history

import (
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// version is the version of the session format that is written.
const version = 3

// timeLayout is how pi writes times: milliseconds in UTC.
const timeLayout = "2006-01-02T15:04:05.000Z"

// header is the first line of a session file.
type header struct {
	Type      string `json:"type"` // "session"
	Version   int    `json:"version"`
	ID        string `json:"id"`
	Timestamp string `json:"timestamp"`
	CWD       string `json:"cwd"`
}

// entry is a line of a session but the header.
type entry interface{ common() *node }

func (n *node) common() *node { return n }

// node is what all entries but the header have in common.
type node struct {
	Type      string  `json:"type"`
	ID        string  `json:"id"`
	ParentID  *string `json:"parentId"` // null for the first
	Timestamp string  `json:"timestamp"`
}

type messageEntry struct {
	node
	Message any `json:"message"` // assistantMessage, toolResultMessage
}

type customEntry struct {
	node
	CustomType string    `json:"customType"` // EventType
	Data       eventData `json:"data"`
}

// eventData is the data of an entry of type EventType.
type eventData struct {
	ChatEventType string `json:"chatEventType"`
	Payload       any    `json:"payload"`
}

type inputEntry struct {
	node
	CustomType string       `json:"customType"`
	Content    string       `json:"content"`
	Display    bool         `json:"display"`
	Details    inputDetails `json:"details"`
}

// inputDetails are the details of an entry of type InputType.
type inputDetails struct {
	Kind InputKind `json:"kind"`
}

type modelEntry struct {
	node
	Provider string `json:"provider"`
	ModelID  string `json:"modelId"`
}

type nameEntry struct {
	node
	Name string `json:"name"`
}

// usageEntry is usage that belongs to no message. Usage is what it adds, Total
// what the run has cost with it.
type usageEntry struct {
	node
	Kind     string      `json:"kind"` // usageKind
	Provider string      `json:"provider"`
	Model    string      `json:"model"`
	Usage    usage       `json:"usage"`
	Total    stream.Cost `json:"totalCostUsd"`
}

// usageKind marks usage with which the agent corrected the sum of its turns.
const usageKind = "correction"

type assistantMessage struct {
	Role         string  `json:"role"`
	Content      []block `json:"content"`
	API          string  `json:"api"`
	Provider     string  `json:"provider"`
	Model        string  `json:"model"`
	Usage        usage   `json:"usage"`
	StopReason   string  `json:"stopReason"`
	ErrorMessage string  `json:"errorMessage,omitempty"`
	Timestamp    int64   `json:"timestamp"` // milliseconds since 1970
}

type toolResultMessage struct {
	Role       string  `json:"role"`
	ToolCallID string  `json:"toolCallId"`
	ToolName   string  `json:"toolName"`
	Content    []block `json:"content"`
	IsError    bool    `json:"isError"`
	Timestamp  int64   `json:"timestamp"`
}

// block is a piece of a message's content: text, or a tool call.
type block struct {
	Type      string          `json:"type"`
	Text      *string         `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// usage is what pi keeps with a message. pi adds costs up, so there is a number
// even where the cost is unknown.
type usage struct {
	Input       int64 `json:"input"`
	Output      int64 `json:"output"`
	CacheRead   int64 `json:"cacheRead"`
	CacheWrite  int64 `json:"cacheWrite"`
	TotalTokens int64 `json:"totalTokens"`
	Cost        cost  `json:"cost"`
}

type cost struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
	Total      float64 `json:"total"`
	Unknown    bool    `json:"unknown,omitempty"` // not known to pi
}

func usageOf(u stream.Usage) usage {
	t := u.Tokens
	out := usage{
		Input: t.Input, Output: t.Output, CacheRead: t.CacheRead, CacheWrite: t.CacheWrite, TotalTokens: t.Total(),
	}
	if c := u.Cost; (stream.Cost{USD: math.Abs(c.USD), Known: c.Known}).IsZero() { // a correction may take something back
		out.Cost.Unknown = true
	} else {
		out.Cost.Total = c.USD
	}
	return out
}

func textBlock(text string) block { return block{Type: "text", Text: &text} }

func callBlock(c stream.ToolCall) block {
	args := c.Input
	switch {
	case len(args) == 0:
		args = json.RawMessage("{}")
	case args[0] != '{': // pi knows only objects
		args, _ = json.Marshal(map[string]json.RawMessage{"input": args}) // can't fail: it is JSON
	}
	return block{Type: "toolCall", ID: c.ID, Name: c.Name, Arguments: args}
}

// stopReason translates a backend's word for why a message ended into pi's.
func stopReason(end stream.TurnEnd, calls int) string {
	switch {
	case calls > 0: // pi drops messages that failed, and their results would be left over
		return "toolUse"
	case end.StopReason == "error" || end.StopReason == "aborted":
		return end.StopReason
	case end.Error != "":
		return "aborted"
	case strings.Contains(end.StopReason, "length") || strings.Contains(end.StopReason, "max_tokens"):
		return "length"
	}
	return "stop"
}

func stamp(t time.Time) string { return t.UTC().Format(timeLayout) }
