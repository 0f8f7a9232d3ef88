package stream

import "ralph-lsp/internal/jsoncursor"

// toolStart shows a call when it is carried out: the message that asks for it may
// still fail.
func (d *piDecoder) toolStart(line []byte, emit func(Event)) error {
	var call ToolCall
	c := jsoncursor.New(line)
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "toolCallId":
			call.ID = c.Text()
		case "toolName":
			call.Name = c.Text()
		case "args":
			call.Input = compactJSON(c.Raw())
		}
	}
	if !c.Done() {
		return ErrMalformed
	}
	emit(call)
	return nil
}

// toolUpdate emits the output so far. The first update of a tool is empty.
func (d *piDecoder) toolUpdate(line []byte, emit func(Event)) error {
	var p ToolProgress
	var nested NestedUsage
	c := jsoncursor.New(line)
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "toolCallId":
			p.ID = c.Text()
		case "partialResult":
			p.Output, nested = readResult(c)
		}
	}
	if !c.Done() {
		return ErrMalformed
	}
	if p.Output != "" {
		emit(p)
	}
	d.toolSpent(p.ID, nested.Usage(), emit)
	return nil
}

// toolEnd takes the result from here. The message that follows only repeats it
// for the model, but has the last word about what the tool has spent.
func (d *piDecoder) toolEnd(line []byte, emit func(Event)) error {
	var r ToolResult
	var nested NestedUsage
	c := jsoncursor.New(line)
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "toolCallId":
			r.ID = c.Text()
		case "result":
			r.Output, nested = readResult(c)
		case "isError":
			r.IsError = c.Bool()
		}
	}
	if !c.Done() {
		return ErrMalformed
	}
	emit(r)
	d.toolSpent(r.ID, nested.Usage(), emit)
	return nil
}

// readResult reads a tool's {"content": [...], "details": ..., "usage": ...}.
func readResult(c *jsoncursor.Cursor) (text string, nested NestedUsage) {
	for o := c.Object(); o.Next(); {
		if string(o.Key) == "content" {
			text = contentText(c.Raw())
			continue
		}
		nested.read(o.Key, c)
	}
	return text, nested
}
