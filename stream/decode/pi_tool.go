package decode

import (
	"slices"

	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// toolStart shows a call when it is carried out: the message that asks for it may
// still fail.
func (d *piDecoder) toolStart(line []byte, emit func(stream.Event)) error {
	var call stream.ToolCall
	c := jsoncursor.New(line)
	c.Members("toolCallId", &call.ID, "toolName", &call.Name, "args", func() { call.Input = compactJSON(c.Raw()) })
	if !c.Done() {
		return ErrMalformed
	}
	emit(call)
	if _, ok := call.Subagent(); ok {
		d.follow(call)
	}
	return nil
}

// toolUpdate emits the output so far. The first update of a tool is empty.
func (d *piDecoder) toolUpdate(line []byte, emit func(stream.Event)) error {
	var p stream.ToolProgress
	var nested NestedUsage
	var details []byte
	c := jsoncursor.New(line)
	c.Members("toolCallId", &p.ID, "partialResult", func() { p.Output, nested, details = readResult(c) })
	if !c.Done() {
		return ErrMalformed
	}
	if p.Output != "" {
		emit(p)
	}
	if call := d.followed(p.ID); call != nil {
		call.list(details, emit)
	}
	d.toolSpent(p.ID, nested.Usage(), emit)
	return nil
}

// toolEnd takes the result from here. The message that follows only repeats it
// for the model, but has the last word about what the tool has spent.
func (d *piDecoder) toolEnd(line []byte, emit func(stream.Event)) error {
	var r stream.ToolResult
	var nested NestedUsage
	var details []byte
	c := jsoncursor.New(line)
	c.Members("toolCallId", &r.ID, "result", func() { r.Output, nested, details = readResult(c) }, "isError", &r.IsError)
	if !c.Done() {
		return ErrMalformed
	}
	if call := d.followed(r.ID); call != nil {
		call.list(details, emit)
		call.end(r.IsError, emit)
		d.following = slices.DeleteFunc(d.following, func(c *piCall) bool { return c == call })
		r.Spent = nested.Usage().Spent()
	}
	emit(r)
	d.toolSpent(r.ID, nested.Usage(), emit)
	return nil
}

// readResult reads a tool's {"content": [...], "details": ..., "usage": ...}.
func readResult(c *jsoncursor.Cursor) (text string, nested NestedUsage, details []byte) {
	c.Members("content", func() { text = contentText(c.Raw()) }, "usage", func() { nested.Own = readPiUsage(c) }, "details", func() {
		details = c.Raw()
		nested.Listed = ReadListedUsage(jsoncursor.New(details), readPiUsage)
	})
	return text, nested, details
}
