package stream

import "ralph-lsp/internal/jsoncursor"

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
	c := jsoncursor.New(line)
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "toolCallId":
			p.ID = c.Text()
		case "partialResult":
			p.Output = readResultText(c)
		}
	}
	if !c.Done() {
		return ErrMalformed
	}
	if p.Output != "" {
		emit(p)
	}
	return nil
}

func (d *piDecoder) toolEnd(line []byte, emit func(Event)) error {
	var r ToolResult
	c := jsoncursor.New(line)
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "toolCallId":
			r.ID = c.Text()
		case "result":
			r.Output = readResultText(c)
		case "isError":
			r.IsError = c.Bool()
		}
	}
	if !c.Done() {
		return ErrMalformed
	}
	emit(r)
	return nil
}

// readResultText reads a tool's {"content": [...]}.
func readResultText(c *jsoncursor.Cursor) (text string) {
	for o := c.Object(); o.Next(); {
		if string(o.Key) == "content" {
			text = contentText(c.Raw())
		}
	}
	return text
}
