package decode

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// codexItem is a message, or what codex calls a tool: a command, a change of
// files, a search.
type codexItem struct {
	ID, Type string
	Text     string // of agent_message, reasoning
	Status   string
	Output   string `json:"aggregated_output"`
	Error    errorObject
	Result   struct{ Content json.RawMessage }
	raw      []byte // the whole item, valid only as long as its line
}

func (it *codexItem) UnmarshalJSON(data []byte) error {
	type plain codexItem // without this method
	*it = codexItem{}
	_ = readEvent(data, (*plain)(it)) // it is whole, or this wouldn't be called
	it.raw = data
	return nil
}

// isTool says whether the item is one that the model calls.
func (it codexItem) isTool() bool {
	return slices.Contains([]string{"command_execution", "file_change", "mcp_tool_call", "collab_tool_call", "web_search"}, it.Type)
}

// codexState are the fields that say how a tool's item stands. Each kind of tool
// has fields of its own: all others are its input.
var codexState = []string{
	"id", "type", "text", "status", "aggregated_output", "error", "result", "exit_code",
	"agents_states", "receiver_thread_ids", "sender_thread_id",
}

// call is the item as a tool call. An MCP tool has a name of its own.
func (it codexItem) call() stream.ToolCall {
	call := stream.ToolCall{ID: it.ID, Name: it.Type}
	var input []byte
	c := jsoncursor.New(it.raw)
	for o := c.Object(); o.Next(); {
		switch name := string(o.Key); {
		case slices.Contains(codexState, name):
		case it.Type == "mcp_tool_call" && name == "tool":
			call.Name = c.Text()
		case it.Type == "mcp_tool_call" && name == "arguments":
			call.Input = compactJSON(c.Raw())
		default: // in the order of the item, as a person reads it
			key, _ := json.Marshal(name) // a string always fits
			input = append(append(append(append(input, ','), key...), ':'), c.Raw()...)
		}
	}
	if call.Input == nil {
		call.Input = compactJSON(slices.Concat([]byte("{"), bytes.TrimPrefix(input, []byte(",")), []byte("}")))
	}
	return call
}

// progress announces a tool, and shows its output so far.
func (d *codexDecoder) progress(it codexItem, emit func(stream.Event)) {
	if !it.isTool() {
		return
	}
	d.announce(it, emit)
	if it.Output != "" {
		emit(stream.ToolProgress{ID: it.ID, Output: it.Output})
	}
}

// announce shows a tool as called once. Its item may come started, updated, or only
// when it is complete.
func (d *codexDecoder) announce(it codexItem, emit func(stream.Event)) {
	if _, told := d.calls.Get(it.ID); told {
		return
	}
	d.called(it.call(), emit)
}

// complete takes in a whole item. One of kind error is a mere warning: a
// failure comes as an event of its own.
func (d *codexDecoder) complete(it codexItem, emit func(stream.Event)) {
	switch {
	case it.Type == "agent_message":
		emit(stream.Text{Delta: it.Text, MessageID: it.ID})
		emit(stream.MessageEnd{MessageID: it.ID, Text: it.Text})
	case it.Type == "reasoning":
		emit(stream.Thinking{Delta: it.Text, MessageID: it.ID})
	case it.isTool():
		d.announce(it, emit)
		d.ended(stream.ToolResult{
			ID: it.ID, Output: cmp.Or(contentText(it.Result.Content), it.Output, it.Error.message),
			IsError: it.Status == "failed" || it.Status == "declined",
		}, it.Status == "declined", emit)
	}
}
