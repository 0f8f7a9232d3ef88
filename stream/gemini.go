package stream

import (
	"cmp"
	"strings"
	"time"

	"ralph-lsp/internal/jsoncursor"
)

const FormatGemini Format = "gemini-stream-json" // gemini --output-format stream-json

func init() { formats[FormatGemini] = format{decoder: func() Decoder { return &geminiDecoder{} }} }

// geminiDecoder reads gemini's stream-json. Its messages have no end of their
// own: a tool call or the result ends them. It tells tokens, and no cost.
type geminiDecoder struct {
	message liveMessage
	calls   map[string]ToolCall // the running ones
	turn    geminiTurn
	done    bool
}

// geminiTurn is how far a model call has come, because nothing says so.
type geminiTurn int

const (
	geminiIdle    geminiTurn = iota
	geminiAnswers            // the model writes or calls tools
	geminiTools              // results came back
)

func (d *geminiDecoder) Done() bool { return d.done }

func (d *geminiDecoder) Close(emit func(Event)) { d.message.end(emit) }

// geminiEvent holds the fields of all the kinds of events that matter.
type geminiEvent struct {
	kind      string
	sessionID string
	model     string
	role      string
	content   string
	call      ToolCall
	output    string // tool_result
	status    string
	severity  string
	message   string // error
	failure   errorObject
	tokens    Tokens
}

func readGeminiEvent(c *jsoncursor.Cursor) (ev geminiEvent) {
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "type":
			ev.kind = c.Text()
		case "session_id":
			ev.sessionID = c.Text()
		case "model":
			ev.model = c.Text()
		case "role":
			ev.role = c.Text()
		case "content":
			ev.content = c.Text()
		case "tool_id":
			ev.call.ID = c.Text()
		case "tool_name":
			ev.call.Name = c.Text()
		case "parameters":
			ev.call.Input = compactJSON(c.Raw())
		case "output":
			ev.output = c.Text()
		case "status":
			ev.status = c.Text()
		case "severity":
			ev.severity = c.Text()
		case "message":
			ev.message = c.Text()
		case "error":
			ev.failure = readErrorObject(c)
		case "stats":
			ev.tokens = readGeminiTokens(c)
		}
	}
	return ev
}

// readGeminiTokens reads the totals of the run. What the total has beside its
// parts is reasoning.
func readGeminiTokens(c *jsoncursor.Cursor) (t Tokens) {
	var total, input int64
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "total_tokens":
			total = c.Count()
		case "input_tokens":
			input = c.Count()
		case "output_tokens":
			t.Output = c.Count()
		case "cached":
			t.CacheRead = c.Count()
		}
	}
	t.Input = max(input-t.CacheRead, 0)
	t.Output = max(t.Output, total-input)
	return t
}

func (d *geminiDecoder) Decode(line []byte, emit func(Event)) error {
	if kind, err := lineType(line); err != nil || kind == nil {
		return cmp.Or(err, checkLine(line))
	}
	c := jsoncursor.New(line)
	ev := readGeminiEvent(c)
	if !c.Done() {
		return ErrMalformed
	}
	switch ev.kind {
	case "init":
		emit(SessionStart{Backend: "gemini", Model: ev.model, SessionID: ev.sessionID})
	case "message":
		if ev.role == "assistant" {
			d.answers(emit)
			d.message.open("", emit)
			d.message.show(ev.content, false, emit)
		}
	case "tool_use":
		d.answers(emit)
		d.message.end(emit)
		if d.calls == nil {
			d.calls = map[string]ToolCall{}
		}
		d.calls[ev.call.ID] = ev.call
		emit(ev.call)
	case "tool_result":
		d.toolResult(ev, emit)
	case "error":
		if ev.severity == "error" {
			emit(ClassifyError(0, ev.message, time.Now()))
		}
	case "result":
		d.result(ev, emit)
	}
	return nil
}

// answers notes that the model is at work; results of tools ended the turn before.
func (d *geminiDecoder) answers(emit func(Event)) {
	if d.turn == geminiTools {
		emit(TurnEnd{StopReason: "tool_use"})
	}
	d.turn = geminiAnswers
	d.done = false
}

func (d *geminiDecoder) toolResult(ev geminiEvent, emit func(Event)) {
	d.turn = geminiTools
	call := d.calls[ev.call.ID]
	delete(d.calls, ev.call.ID)
	emit(ToolResult{ID: ev.call.ID, Output: cmp.Or(ev.failure.message, ev.output), IsError: ev.status == "error"})
	if ev.failure.kind == "policy_violation" {
		emit(Denied{Denial{Tool: call.Name, ID: ev.call.ID, Detail: callDetail(call.Input)}})
	}
}

// result ends the run. What the totals say belongs to no single turn.
func (d *geminiDecoder) result(ev geminiEvent, emit func(Event)) {
	d.message.end(emit)
	d.done = true
	end := TurnEnd{StopReason: ev.status}
	if ev.status == "error" {
		e := geminiFailure(ev.failure.message)
		emit(e)
		end.Error = e.Message
	}
	if d.turn != geminiIdle || end.Error != "" {
		emit(end)
	}
	d.turn = geminiIdle
	emit(Usage{Tokens: ev.tokens})
}

// geminiFailure unwraps "[API Error: {...}]".
func geminiFailure(message string) Error {
	if inner, ok := strings.CutPrefix(message, "[API Error: "); ok {
		message = strings.TrimSuffix(inner, "]")
	}
	return ClassifyError(0, cmp.Or(message, "gemini failed"), time.Now())
}
