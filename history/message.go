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
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "role":
			m.role = c.Text()
		case "id":
			m.id = c.Text()
		case "provider":
			m.provider = c.Text()
		case "model":
			m.model = c.Text()
		case "stopReason", "stop_reason":
			m.stopReason = c.Text()
		case "errorMessage":
			m.errorMessage = c.Text()
		case "content":
			m.parts = readContent(c)
		case "usage":
			m.usage = readUsage(c)
		case "details":
			m.listed = decode.ReadListedUsage(c, readUsage)
		case "toolCallId":
			m.toolCallID = c.Text()
		case "isError":
			m.isError = c.Bool()
		case "spent":
			payloadOf(c.Raw(), func(s spent) { m.spent = s.of() })
		case "customType":
			m.customType = c.Text()
		case "display":
			m.display = c.Bool()
		case "command":
			m.command = c.Text()
		case "output":
			m.output = c.Text()
		case "exitCode":
			code, _ := c.Number()
			m.failed = code != 0
		}
	}
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
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "type":
			p.kind = partKind(c.Text())
		case "text", "thinking":
			p.text = c.Text()
		case "id", "tool_use_id":
			p.call.ID = c.Text()
		case "name":
			p.call.Name = c.Text()
		case "arguments", "input":
			p.call.Input = bytes.Clone(c.Raw())
		case "content":
			p.text = textOf(readContent(c))
		case "is_error":
			p.failed = c.Bool()
		}
	}
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
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "input", "input_tokens":
			u.Tokens.Input = c.Count()
		case "output", "output_tokens":
			u.Tokens.Output = c.Count()
		case "cacheRead", "cache_read_input_tokens":
			u.Tokens.CacheRead = c.Count()
		case "cacheWrite", "cache_creation_input_tokens":
			u.Tokens.CacheWrite = c.Count()
		case "cost":
			u.Cost = readCost(c)
		}
	}
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
	if c.Peek() != '{' { // the subagent tool among pi's examples writes only the sum
		if usd, ok := c.Amount(); ok {
			cost = CostOf(&usd)
		}
		return cost
	}
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "total":
			if usd, ok := c.Amount(); ok {
				cost = CostOf(&usd)
			}
		case "unknown":
			unknown = c.Bool()
		}
	}
	if unknown {
		return stream.Cost{}
	}
	return cost
}
