package stream

import (
	"encoding/json"
	"slices"
	"strings"

	"ralph-lsp/internal/jsoncursor"
)

// codexItem is a message, or what codex calls a tool: a command, a change of
// files, a search. All the fields of a tool's item but its state are its input.
type codexItem struct {
	id, kind string
	text     string // agent_message, reasoning
	status   string
	output   string
	failure  string
	input    []codexField
}

// codexField is a member of an item as it stands there.
type codexField struct {
	name  string
	value []byte // raw JSON, valid only as long as its line
}

func readCodexItem(c *jsoncursor.Cursor) (it codexItem) {
	for o := c.Object(); o.Next(); {
		switch name := string(o.Key); name {
		case "id":
			it.id = c.Text()
		case "type":
			it.kind = c.Text()
		case "text":
			it.text = c.Text()
		case "status":
			it.status = c.Text()
		case "aggregated_output":
			it.output = c.Text()
		case "error":
			it.failure = readErrorObject(c).message
		case "result":
			it.output, _ = readResult(c)
		case "exit_code", "agents_states", "receiver_thread_ids", "sender_thread_id":
		default:
			it.input = append(it.input, codexField{name, c.Raw()})
		}
	}
	return it
}

// isTool says whether the item is one that the model calls.
func (it codexItem) isTool() bool {
	return slices.Contains([]string{"command_execution", "file_change", "mcp_tool_call", "collab_tool_call", "web_search"}, it.kind)
}

// call is the item as a tool call. An MCP tool has a name of its own.
func (it codexItem) call() ToolCall {
	call := ToolCall{ID: it.id, Name: it.kind}
	var b strings.Builder
	for _, field := range it.input {
		value := jsoncursor.New(field.value)
		switch {
		case it.kind == "mcp_tool_call" && field.name == "tool":
			call.Name = value.Text()
		case it.kind == "mcp_tool_call" && field.name == "arguments":
			call.Input = compactJSON(field.value)
		default:
			name, _ := json.Marshal(field.name) // a string always fits
			b.WriteString(",")
			b.Write(name)
			b.WriteString(":")
			b.Write(field.value)
		}
	}
	if call.Input == nil {
		call.Input = compactJSON([]byte("{" + strings.TrimPrefix(b.String(), ",") + "}"))
	}
	return call
}

// progress announces a tool, and shows its output so far.
func (d *codexDecoder) progress(it codexItem, emit func(Event)) {
	if !it.isTool() {
		return
	}
	d.announce(it, emit)
	if it.output != "" {
		emit(ToolProgress{ID: it.id, Output: it.output})
	}
}

func (d *codexDecoder) announce(it codexItem, emit func(Event)) {
	if d.calls[it.id] {
		return
	}
	if d.calls == nil {
		d.calls = map[string]bool{}
	}
	d.calls[it.id] = true
	emit(it.call())
}

// complete takes in a whole item. One of kind error is a mere warning: a
// failure comes as an event of its own.
func (d *codexDecoder) complete(it codexItem, emit func(Event)) {
	switch {
	case it.kind == "agent_message":
		emit(Text{Delta: it.text, MessageID: it.id})
		emit(MessageEnd{MessageID: it.id, Text: it.text})
	case it.kind == "reasoning":
		emit(Thinking{Delta: it.text, MessageID: it.id})
	case it.isTool():
		d.announce(it, emit)
		delete(d.calls, it.id)
		r := ToolResult{ID: it.id, Output: it.output, IsError: it.status == "failed" || it.status == "declined"}
		if r.Output == "" {
			r.Output = it.failure
		}
		emit(r)
		if it.status == "declined" {
			call := it.call()
			emit(Denied{Denial{Tool: call.Name, ID: it.id, Detail: callDetail(call.Input)}})
		}
	}
}
