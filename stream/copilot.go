package stream

import (
	"cmp"
	"fmt"
	"time"

	"ralph-lsp/internal/jsoncursor"
)

const FormatCopilot Format = "copilot-json" // copilot --output-format json

func init() { formats[FormatCopilot] = format{decoder: func() Decoder { return &copilotDecoder{} }} }

// copilotDecoder reads what copilot writes with --output-format json: the
// events of its session, streamed ones among them. It tells what a run cost in
// premium requests only, and tokens in assistant.usage where it writes that.
type copilotDecoder struct {
	session SessionStart
	message liveMessage
	thought string              // reasoningId of what was shown as deltas
	calls   map[string]ToolCall // the running ones
	refused copilotEvent        // the model call that failed last
	usage   Usage               // of the run
	turn    Usage
	failure string // the last error that was emitted
	done    bool
}

func (d *copilotDecoder) Done() bool { return d.done }

func (d *copilotDecoder) Close(emit func(Event)) { d.message.end(emit) }

// copilotEvent holds the fields of all the kinds of events that matter.
type copilotEvent struct {
	kind      string
	sessionID string // result
	exitCode  int64  // result

	model        string
	parent       string // the tool call whose subagent this is from
	messageID    string
	reasoningID  string
	content      string
	delta        string
	call         ToolCall
	partial      string
	success      bool
	output       string
	failure      errorObject // tool.execution_complete, session.compaction_complete
	message      string      // session.error
	reason       string
	status       int
	attempt      int
	errorMessage string // model.call_failure
	aborted      bool   // assistant.idle
	tokens       Tokens
}

func readCopilotEvent(c *jsoncursor.Cursor) (ev copilotEvent) {
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "type":
			ev.kind = c.Text()
		case "sessionId":
			ev.sessionID = c.Text()
		case "exitCode":
			ev.exitCode = c.Count()
		case "data":
			readCopilotData(c, &ev)
		}
	}
	return ev
}

func readCopilotData(c *jsoncursor.Cursor, ev *copilotEvent) {
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "model":
			ev.model = c.Text()
		case "parentToolCallId":
			ev.parent = c.Text()
		case "messageId":
			ev.messageID = c.Text()
		case "reasoningId":
			ev.reasoningID = c.Text()
		case "content":
			ev.content = c.Text()
		case "deltaContent":
			ev.delta = c.Text()
		case "toolCallId":
			ev.call.ID = c.Text()
		case "toolName":
			ev.call.Name = c.Text()
		case "arguments":
			ev.call.Input = compactJSON(c.Raw())
		case "partialOutput":
			ev.partial = c.Text()
		case "success":
			ev.success = c.Bool()
		case "result":
			ev.output = readCopilotResult(c)
		case "error":
			ev.failure = readErrorObject(c)
		case "message":
			ev.message = c.Text()
		case "reason":
			ev.reason = c.Text()
		case "statusCode":
			ev.status = int(c.Count())
		case "retryAttempt":
			ev.attempt = int(c.Count()) + 1
		case "errorMessage":
			ev.errorMessage = c.Text()
		case "aborted":
			ev.aborted = c.Bool()
		default:
			readCopilotTokens(c, string(o.Key), &ev.tokens)
		}
	}
}

// readCopilotTokens reads a member of assistant.usage.
func readCopilotTokens(c *jsoncursor.Cursor, key string, t *Tokens) {
	switch key {
	case "inputTokens":
		t.Input = c.Count()
	case "outputTokens":
		t.Output = c.Count()
	case "cacheReadTokens":
		t.CacheRead = c.Count()
	case "cacheWriteTokens":
		t.CacheWrite = c.Count()
	}
}

func readCopilotResult(c *jsoncursor.Cursor) (output string) {
	for o := c.Object(); o.Next(); {
		if string(o.Key) == "content" {
			output = c.Text()
		}
	}
	return output
}

func (d *copilotDecoder) Decode(line []byte, emit func(Event)) error {
	if kind, err := lineType(line); err != nil || kind == nil {
		return cmp.Or(err, checkLine(line))
	}
	c := jsoncursor.New(line)
	ev := readCopilotEvent(c)
	if !c.Done() {
		return ErrMalformed
	}
	switch ev.kind {
	case "assistant.message_start", "assistant.message_delta", "assistant.message",
		"assistant.reasoning_delta", "assistant.reasoning":
		d.speak(ev, emit)
	case "tool.execution_start", "tool.execution_partial_result", "tool.execution_complete":
		d.tool(ev, emit)
	case "assistant.turn_start":
		d.done = false
	case "assistant.turn_end":
		d.endTurn(emit)
	case "assistant.usage":
		d.turn.Tokens = d.turn.Tokens.Plus(ev.tokens)
		d.turn.Context = ev.tokens.Total()
	case "model.call_start":
		d.atWork(SessionStart{Model: ev.model}, emit)
	case "model.call_failure":
		d.refused = ev
	case "assistant.turn_retry":
		d.message.discard(emit)
		emit(d.retry(ev))
	case "session.error":
		d.fail(ClassifyError(ev.status, cmp.Or(ev.message, "copilot failed"), time.Now()), emit)
	case "assistant.idle":
		if ev.aborted { // copilot's own exit code is 0 then
			d.fail(Error{Kind: KindAborted, Message: "the run was aborted"}, emit)
		}
	case "session.compaction_start":
		emit(Compaction{})
	case "session.compaction_complete":
		emit(Compaction{Done: true, Error: ev.failure.message})
	case "result":
		d.result(ev, emit)
	}
	return nil
}

// atWork says who works in which session, when that is news.
func (d *copilotDecoder) atWork(s SessionStart, emit func(Event)) {
	s.Backend = "copilot"
	s.Model = cmp.Or(s.Model, d.session.Model)
	s.SessionID = cmp.Or(s.SessionID, d.session.SessionID)
	if s != d.session {
		d.session = s
		emit(s)
	}
}

// speak reads what the model says and thinks. What is streamed comes again as
// a whole; a subagent is shown as whole messages only.
func (d *copilotDecoder) speak(ev copilotEvent, emit func(Event)) {
	if ev.parent != "" {
		if ev.kind == "assistant.message" && ev.content != "" {
			emit(Text{Delta: ev.content, MessageID: ev.messageID, ParentToolCallID: ev.parent})
			emit(MessageEnd{MessageID: ev.messageID, Text: ev.content, ParentToolCallID: ev.parent})
		}
		return
	}
	switch ev.kind {
	case "assistant.message_start":
		d.message.open(ev.messageID, emit)
	case "assistant.message_delta":
		d.message.open(ev.messageID, emit)
		d.message.show(ev.delta, false, emit)
	case "assistant.message":
		d.message.open(ev.messageID, emit)
		if d.message.text.empty() {
			d.message.show(ev.content, false, emit)
		}
		d.message.endWith(ev.content, emit)
	case "assistant.reasoning_delta":
		d.thought = ev.reasoningID
		emit(Thinking{Delta: ev.delta})
	case "assistant.reasoning":
		if ev.reasoningID != d.thought {
			emit(Thinking{Delta: ev.content})
		}
	}
}

func (d *copilotDecoder) tool(ev copilotEvent, emit func(Event)) {
	switch id := ev.call.ID; ev.kind {
	case "tool.execution_start":
		if d.calls == nil {
			d.calls = map[string]ToolCall{}
		}
		ev.call.ParentToolCallID = ev.parent
		d.calls[id] = ev.call
		emit(ev.call)
	case "tool.execution_partial_result":
		emit(ToolProgress{ID: id, Output: ev.partial})
	case "tool.execution_complete":
		call := d.calls[id]
		delete(d.calls, id)
		emit(ToolResult{ID: id, Output: cmp.Or(ev.failure.message, ev.output), IsError: !ev.success, ParentToolCallID: ev.parent})
		if ev.failure.kind == "denied" {
			emit(Denied{Denial{Tool: call.Name, ID: id, Detail: callDetail(call.Input)}})
		}
	}
}

// retry says why the model is asked again; the failure came before.
func (d *copilotDecoder) retry(ev copilotEvent) Retry {
	e := ClassifyError(d.refused.status, cmp.Or(errorText(d.refused.errorMessage), ev.reason), time.Now())
	return Retry{Attempt: max(d.refused.attempt, 1), Kind: e.Kind, Message: e.Message}
}

func (d *copilotDecoder) endTurn(emit func(Event)) {
	emit(TurnEnd{Usage: d.turn})
	d.usage.Tokens = d.usage.Tokens.Plus(d.turn.Tokens)
	d.usage.Context = cmp.Or(d.turn.Context, d.usage.Context)
	d.turn = Usage{}
	if d.usage.Tokens.Total() > 0 {
		emit(d.usage)
	}
}

func (d *copilotDecoder) fail(e Error, emit func(Event)) {
	d.failure = e.Message
	emit(e)
}

// result ends the run. Copilot's own exit code is in it.
func (d *copilotDecoder) result(ev copilotEvent, emit func(Event)) {
	d.message.end(emit)
	d.atWork(SessionStart{SessionID: ev.sessionID}, emit)
	d.done = true
	if ev.exitCode != 0 && d.failure == "" {
		d.fail(Error{Message: fmt.Sprintf("copilot ended with exit code %d", ev.exitCode)}, emit)
	}
}
