package history

import (
	"bytes"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// message is a message of pi's or claude's, as far as it matters here.
type message struct {
	role         string
	id           string // claude's
	provider     string
	model        string
	stopReason   string
	errorMessage string
	parts        []part
	usage        stream.Usage
	listed       stream.Usage // of the agents that a tool lists in its details, where it has run any
	toolCallID   string       // of a toolResult
	spent        stream.Spent // by the agents that its tool had work
	isError      bool
	customType   string // of a message by an extension
	display      bool
	command      string // of a bashExecution
	output       string
	failed       bool // the command did
}

// part is a block of a message's content.
type part struct {
	kind   string // "text", "thinking", "toolCall", "toolResult"
	text   string // also the result's
	call   stream.ToolCall
	failed bool // the result is an error
}

// readMessage reads the message at the cursor.
func readMessage(c *jsoncursor.Cursor) *message {
	m := &message{display: true}
	c.Members("role", &m.role, "id", &m.id, "provider", &m.provider, "model", &m.model, "stopReason", &m.stopReason, "stop_reason", &m.stopReason,
		"errorMessage", &m.errorMessage, "toolCallId", &m.toolCallID, "isError", &m.isError, "customType", &m.customType, "display", &m.display,
		"command", &m.command, "output", &m.output, "content", func() { m.parts = readContent(c) }, "usage", func() { m.usage = readUsage(c) },
		"details", func() { m.listed = decode.ReadListedUsage(c, readUsage) },
		"spent", func() { payloadOf(c.Raw(), func(s Spent) { m.spent = s.Of() }) },
		"exitCode", func() { code, _ := c.Number(); m.failed = code != 0 })
	return m
}

// readContent reads a message's content: a string or blocks.
func readContent(c *jsoncursor.Cursor) []part {
	if c.Peek() == '"' {
		return []part{{kind: "text", text: c.Text()}}
	}
	parts := make([]part, 0, 2)
	for a := c.Array(); a.Next(); {
		parts = append(parts, readPart(c))
	}
	return parts
}

// readPart reads a block. pi and claude name the same things differently.
func readPart(c *jsoncursor.Cursor) (p part) {
	c.Members("type", func() { p.kind = partKind(c.Text()) }, "text", &p.text, "thinking", &p.text, "id", &p.call.ID,
		"tool_use_id", &p.call.ID, "name", &p.call.Name, "arguments", func() { p.call.Input = bytes.Clone(c.Raw()) },
		"input", func() { p.call.Input = bytes.Clone(c.Raw()) }, "content", func() { p.text = textOf(readContent(c)) },
		"is_error", &p.failed)
	if p.kind == "image" {
		p.kind, p.text = "text", "[image]"
	}
	return p
}

func partKind(name string) string {
	switch name {
	case "tool_use":
		return "toolCall"
	case "tool_result":
		return "toolResult"
	}
	return name
}

// textOf joins the texts of a content by newlines.
func textOf(parts []part) string {
	var text string
	found := 0
	for _, p := range parts {
		if p.kind != "text" || p.text == "" {
			continue
		}
		if found++; found == 1 {
			text = p.text
			continue
		}
		text += "\n" + p.text
	}
	return text
}

// thinkingOf joins what the model thought.
func thinkingOf(parts []part) string {
	var thoughts []string
	for _, p := range parts {
		if p.kind == "thinking" && p.text != "" {
			thoughts = append(thoughts, p.text)
		}
	}
	return strings.Join(thoughts, "\n")
}

// readUsage reads what one call of the model has used.
func readUsage(c *jsoncursor.Cursor) (u stream.Usage) {
	c.Members("input", &u.Tokens.Input, "input_tokens", &u.Tokens.Input, "output", &u.Tokens.Output, "output_tokens", &u.Tokens.Output,
		"cacheRead", &u.Tokens.CacheRead, "cache_read_input_tokens", &u.Tokens.CacheRead, "cacheWrite", &u.Tokens.CacheWrite,
		"cache_creation_input_tokens", &u.Tokens.CacheWrite, "cost", func() { u.Cost = readCost(c) })
	u.Tokens = TokensOf(u.Tokens)
	u.Context = u.Tokens.Total()
	return u
}

// toolUsage is what a tool has used by itself. It isn't part of the conversation.
func (m *message) toolUsage() stream.Usage {
	nested := decode.NestedUsage{Own: m.usage, Listed: m.listed}
	return nested.Usage()
}

func readCost(c *jsoncursor.Cursor) (cost stream.Cost) {
	unknown := false
	read := func() {
		if usd, ok := c.Amount(); ok {
			cost = stream.CostOf(usd)
		}
	}
	if c.Peek() != '{' { // the subagent tool among pi's examples writes only the sum
		read()
		return cost
	}
	c.Members("total", read, "unknown", &unknown)
	if unknown {
		return stream.Cost{}
	}
	return cost
}
