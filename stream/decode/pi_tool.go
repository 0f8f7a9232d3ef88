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

// piTool is what a line says of a running tool, or of one that has ended.
type piTool struct {
	id, output string
	isError    bool
	spent      stream.Usage // by the tool itself
	details    []byte       // valid only as long as its line
}

// readPiTool reads {"toolCallId", "partialResult" or "result": {"content", "details", "usage"}}.
func readPiTool(line []byte) (t piTool, err error) {
	var own, listed stream.Usage
	c := jsoncursor.New(line)
	result := func() {
		c.Members("content", func() { t.output = contentText(c.Raw()) }, "usage", func() { own = readPiUsage(c) }, "details", func() {
			t.details = c.Raw()
			listed = readListedUsage(jsoncursor.New(t.details))
		})
	}
	c.Members("toolCallId", &t.id, "partialResult", result, "result", result, "isError", &t.isError)
	if !c.Done() {
		return piTool{}, ErrMalformed
	}
	t.spent = nestedUsage(own, listed)
	return t, nil
}

// toolUpdate emits the output so far. The first update of a tool is empty.
func (d *piDecoder) toolUpdate(line []byte, emit func(stream.Event)) error {
	t, err := readPiTool(line)
	if err != nil {
		return err
	}
	if t.output != "" {
		emit(stream.ToolProgress{ID: t.id, Output: t.output})
	}
	if call := d.followed(t.id); call != nil {
		call.list(t.details, emit)
	}
	d.toolSpent(t.id, t.spent, emit)
	return nil
}

// toolEnd takes the result from here. The message that follows only repeats it
// for the model, but has the last word about what the tool has spent.
func (d *piDecoder) toolEnd(line []byte, emit func(stream.Event)) error {
	t, err := readPiTool(line)
	if err != nil {
		return err
	}
	r := stream.ToolResult{ID: t.id, Output: t.output, IsError: t.isError}
	if call := d.followed(r.ID); call != nil {
		call.list(t.details, emit)
		call.end(r.IsError, emit)
		d.following = slices.DeleteFunc(d.following, func(c *piCall) bool { return c == call })
		r.Spent = t.spent.Spent()
	}
	emit(r)
	d.toolSpent(r.ID, t.spent, emit)
	return nil
}
