package history

import (
	"bytes"
	"strings"

	"ralph-lsp/stream"
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
	toolCallID   string // of a toolResult
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

// message reads the message at the position.
func (s *scanner) message() *message {
	m := &message{display: true}
	for key := range s.members() {
		switch string(key) {
		case "role":
			m.role = s.word()
		case "id":
			m.id = s.text()
		case "provider":
			m.provider = s.word()
		case "model":
			m.model = s.text()
		case "stopReason", "stop_reason":
			m.stopReason = s.word()
		case "errorMessage":
			m.errorMessage = s.text()
		case "content":
			m.parts = s.content()
		case "usage":
			m.usage = s.usage()
		case "toolCallId":
			m.toolCallID = s.text()
		case "isError":
			m.isError = s.boolean()
		case "customType":
			m.customType = s.text()
		case "display":
			m.display = s.boolean()
		case "command":
			m.command = s.text()
		case "output":
			m.output = s.text()
		case "exitCode":
			m.failed = s.float() != 0
		}
	}
	return m
}

// content reads a message's content: a string or blocks.
func (s *scanner) content() []part {
	if s.peek() == '"' {
		return []part{{kind: "text", text: s.text()}}
	}
	parts := make([]part, 0, 2)
	for range s.elements() {
		parts = append(parts, s.part())
	}
	return parts
}

// part reads a block. pi and claude name the same things differently.
func (s *scanner) part() (p part) {
	for key := range s.members() {
		switch string(key) {
		case "type":
			p.kind = partKind(s.word())
		case "text", "thinking":
			p.text = s.text()
		case "id", "tool_use_id":
			p.call.ID = s.text()
		case "name":
			p.call.Name = s.text()
		case "arguments", "input":
			p.call.Input = bytes.Clone(s.raw())
		case "content":
			p.text = textOf(s.content())
		case "is_error":
			p.failed = s.boolean()
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

// usage reads what one call of the model has used.
func (s *scanner) usage() (u stream.Usage) {
	for key := range s.members() {
		switch string(key) {
		case "input", "input_tokens":
			u.Tokens.Input = s.integer()
		case "output", "output_tokens":
			u.Tokens.Output = s.integer()
		case "cacheRead", "cache_read_input_tokens":
			u.Tokens.CacheRead = s.integer()
		case "cacheWrite", "cache_creation_input_tokens":
			u.Tokens.CacheWrite = s.integer()
		case "cost":
			u.Cost = s.cost()
		}
	}
	u.Tokens = TokensOf(u.Tokens)
	u.Context = u.Tokens.Total()
	return u
}

func (s *scanner) cost() (c stream.Cost) {
	unknown := false
	for key := range s.members() {
		switch string(key) {
		case "total":
			usd := s.float()
			c = CostOf(&usd)
		case "unknown":
			unknown = s.boolean()
		}
	}
	if unknown {
		return stream.Cost{}
	}
	return c
}
