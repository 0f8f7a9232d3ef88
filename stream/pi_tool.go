package stream

import "time"

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

// retryStart announces that pi waits and asks the model again.
func (d *piDecoder) retryStart(line []byte, emit func(Event)) error {
	var r Retry
	c := newCursor(line)
	for o := c.object(); o.next(); {
		switch string(o.key) {
		case "attempt":
			r.Attempt = int(c.integer())
		case "maxAttempts":
			r.MaxAttempts = int(c.integer())
		case "delayMs":
			r.Delay = c.milliseconds()
		case "errorMessage":
			e := ClassifyError(0, c.text(), time.Now())
			r.Kind, r.Message = e.Kind, e.Message
		}
	}
	if !c.done() {
		return ErrMalformed
	}
	d.done, d.resting = false, false
	d.failure = ""
	emit(r)
	return nil
}

// retryEnd emits the error with which pi gives up retrying.
func (d *piDecoder) retryEnd(line []byte, emit func(Event)) error {
	var success bool
	var message string
	c := newCursor(line)
	for o := c.object(); o.next(); {
		switch string(o.key) {
		case "success":
			success = c.boolean()
		case "finalError":
			message = c.text()
		}
	}
	if !c.done() {
		return ErrMalformed
	}
	if !success {
		d.fail(piError("error", message), emit)
	}
	return nil
}

// compaction reads both events of a compaction; only the second has a result.
// Its model call belongs to no turn and is counted here.
func (d *piDecoder) compaction(line []byte, emit func(Event)) error {
	var e Compaction
	var used *Usage
	c := newCursor(line)
	for o := c.object(); o.next(); {
		switch string(o.key) {
		case "type":
			e.Done = c.text() == "compaction_end"
		case "reason":
			e.Reason = c.text()
		case "errorMessage":
			e.Error = c.text()
		case "aborted":
			if c.boolean() && e.Error == "" {
				e.Error = "aborted"
			}
		case "result":
			used = c.compactionUsage()
		}
	}
	if !c.done() {
		return ErrMalformed
	}
	d.resting = false
	emit(e)
	if used != nil {
		d.use(*used, emit)
	}
	return nil
}

// compactionUsage reads what a compaction has used, nil if that isn't said.
// The context afterwards is pi's own estimate.
func (c *cursor) compactionUsage() (used *Usage) {
	var context int64
	for o := c.object(); o.next(); {
		switch string(o.key) {
		case "usage":
			u := c.piUsage()
			used = &u
		case "estimatedTokensAfter":
			context = c.integer()
		}
	}
	if used != nil {
		used.Context = context
	}
	return used
}
