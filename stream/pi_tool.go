package stream

func (d *piDecoder) toolStart(line []byte, emit func(Event)) error {
	var call ToolCall
	c := newCursor(line)
	for o := c.object(); o.next(); {
		switch string(o.key) {
		case "toolCallId":
			call.ID = c.text()
		case "toolName":
			call.Name = c.text()
		case "args":
			call.Input = compactJSON(c.raw())
		}
	}
	if !c.done() {
		return ErrMalformed
	}
	emit(call)
	return nil
}

// toolUpdate emits the output so far. The first update of a tool is empty.
func (d *piDecoder) toolUpdate(line []byte, emit func(Event)) error {
	var p ToolProgress
	c := newCursor(line)
	for o := c.object(); o.next(); {
		switch string(o.key) {
		case "toolCallId":
			p.ID = c.text()
		case "partialResult":
			p.Output = c.resultText()
		}
	}
	if !c.done() {
		return ErrMalformed
	}
	if p.Output != "" {
		emit(p)
	}
	return nil
}

func (d *piDecoder) toolEnd(line []byte, emit func(Event)) error {
	var r ToolResult
	c := newCursor(line)
	for o := c.object(); o.next(); {
		switch string(o.key) {
		case "toolCallId":
			r.ID = c.text()
		case "result":
			r.Output = c.resultText()
		case "isError":
			r.IsError = c.boolean()
		}
	}
	if !c.done() {
		return ErrMalformed
	}
	emit(r)
	return nil
}

// resultText reads a tool's {"content": [...]}.
func (c *cursor) resultText() (text string) {
	for o := c.object(); o.next(); {
		if string(o.key) == "content" {
			text = contentText(c.raw())
		}
	}
	return text
}
