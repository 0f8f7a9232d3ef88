package decode

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// copilotDecoder reads what copilot writes with --output-format json: the
// events of its session. It tells what a run cost in premium requests only, and
// tokens in assistant.usage where it writes that.
//
//	stream = session.* user.message turn+ [session.error] assistant.idle result
//	turn   = assistant.turn_start (fail assistant.turn_retry)* (answer | fail) tool* assistant.turn_end
//	fail   = model.call_start model.call_failure model.call_finished
//	answer = model.call_start assistant.reasoning_delta* [assistant.message_start assistant.message_delta*]
//	         model.call_finished assistant.message [assistant.reasoning]
//	tool   = tool.execution_start tool.execution_partial_result* tool.execution_complete
//
// The tools of a turn run side by side. A subagent's lines stand between those of the main agent, with
// parentToolCallId. The result ends the run.
type copilotDecoder struct {
	common
	thought string      // reasoningId of what was shown as deltas
	refused copilotData // the model call that failed last
	turn    stream.Usage
	failure lastFailure
}

// copilotEvent holds the fields of all the kinds of events that matter.
type copilotEvent struct {
	Type      string
	SessionID string         `json:"sessionId"` // of result
	ExitCode  jsoncursor.Int // of result
	Data      copilotData
}

type copilotData struct {
	Model        string
	Parent       string `json:"parentToolCallId"` // the tool call whose subagent this is from
	MessageID    string
	ReasoningID  string
	Content      string
	DeltaContent string

	ToolCallID    string
	ToolName      string
	Arguments     json.RawMessage
	PartialOutput string
	Success       bool
	Result        struct{ Content string }
	Error         errorObject // of tool.execution_complete, session.compaction_complete

	Message      string // of session.error
	Reason       string
	StatusCode   jsoncursor.Int
	RetryAttempt jsoncursor.Int
	ErrorMessage string // of model.call_failure
	Aborted      bool   // of assistant.idle

	InputTokens, OutputTokens, CacheReadTokens, CacheWriteTokens jsoncursor.Int // of assistant.usage
}

func (d *copilotDecoder) Decode(line []byte, emit func(stream.Event)) error {
	var ev copilotEvent
	if err := readEvent(line, &ev); err != nil {
		return err
	}
	data := ev.Data
	switch ev.Type {
	case "assistant.message_start", "assistant.message_delta", "assistant.message",
		"assistant.reasoning_delta", "assistant.reasoning":
		d.speak(ev.Type, data, emit)
	case "tool.execution_start", "tool.execution_partial_result", "tool.execution_complete":
		d.tool(ev.Type, data, emit)
	case "assistant.turn_start":
		d.done = false
	case "assistant.turn_end":
		d.endTurn(emit)
	case "assistant.usage":
		tokens := tokensOf(data.InputTokens, data.OutputTokens, data.CacheReadTokens, data.CacheWriteTokens)
		d.turn.Tokens = d.turn.Tokens.Plus(tokens)
		d.turn.Context = tokens.Total()
	case "model.call_start":
		d.session.tell(stream.SessionStart{Backend: "copilot", Model: data.Model}, emit)
	case "model.call_failure":
		d.refused = data
	case "assistant.turn_retry": // the answer begins anew, perhaps with other words
		d.message.discard(emit)
		emit(d.retry(data.Reason))
	case "session.error":
		d.failure.tell(stream.ClassifyError(int(data.StatusCode), cmp.Or(data.Message, "copilot failed"), time.Now()), emit)
	case "assistant.idle":
		if data.Aborted { // copilot's own exit code is 0 then
			d.failure.tell(stream.Error{Kind: stream.KindAborted, Message: "the run was aborted"}, emit)
		}
	case "session.compaction_start":
		emit(stream.Compaction{})
	case "session.compaction_complete":
		emit(stream.Compaction{Done: true, Error: data.Error.message})
	case "result":
		d.result(ev, emit)
	}
	return nil
}

// speak reads the model's text and thoughts. Streamed text comes again as a whole, which counts. A subagent is shown
// as whole messages only: its deltas come between those of the main agent, and there is one live message.
func (d *copilotDecoder) speak(kind string, data copilotData, emit func(stream.Event)) {
	if data.Parent != "" {
		if kind == "assistant.message" && data.Content != "" {
			emit(stream.Text{Delta: data.Content, MessageID: data.MessageID, ParentToolCallID: data.Parent})
			emit(stream.MessageEnd{MessageID: data.MessageID, Text: data.Content, ParentToolCallID: data.Parent})
		}
		return
	}
	switch kind {
	case "assistant.message_start":
		d.message.open(data.MessageID, emit)
	case "assistant.message_delta":
		d.message.open(data.MessageID, emit)
		d.message.show(data.DeltaContent, false, emit)
	case "assistant.message":
		d.message.open(data.MessageID, emit)
		if d.message.text.empty() { // with --stream off there were no deltas
			d.message.show(data.Content, false, emit)
		}
		d.message.endWith(data.Content, emit)
	case "assistant.reasoning_delta":
		d.thought = data.ReasoningID
		emit(stream.Thinking{Delta: data.DeltaContent})
	case "assistant.reasoning":
		if data.ReasoningID != d.thought {
			emit(stream.Thinking{Delta: data.Content})
		}
	}
}

func (d *copilotDecoder) tool(kind string, data copilotData, emit func(stream.Event)) {
	switch id := data.ToolCallID; kind {
	case "tool.execution_start":
		d.called(stream.ToolCall{ID: id, Name: data.ToolName, Input: compactJSON(data.Arguments), ParentToolCallID: data.Parent}, emit)
	case "tool.execution_partial_result":
		emit(stream.ToolProgress{ID: id, Output: data.PartialOutput})
	case "tool.execution_complete":
		output := cmp.Or(data.Error.message, data.Result.Content) // a failed tool has only one of them
		d.ended(stream.ToolResult{ID: id, Output: output, IsError: !data.Success, ParentToolCallID: data.Parent},
			data.Error.kind == "denied", emit)
	}
}

// retry says why the model is asked again. The event has at most a keyword for it: the failed call before had the
// provider's words. Attempts count from 0.
func (d *copilotDecoder) retry(reason string) stream.Retry {
	e := stream.ClassifyError(int(d.refused.StatusCode), cmp.Or(errorText(d.refused.ErrorMessage), reason), time.Now())
	return stream.Retry{Attempt: int(d.refused.RetryAttempt) + 1, Kind: e.Kind, Message: e.Message}
}

// endTurn counts the turn. Offline copilot tells no tokens: they are unknown then,
// not 0.
func (d *copilotDecoder) endTurn(emit func(stream.Event)) {
	emit(stream.TurnEnd{Usage: d.turn})
	d.usage, d.turn = d.usage.Plus(d.turn), stream.Usage{}
	if d.usage.Tokens.Total() > 0 {
		emit(d.usage)
	}
}

// result ends the run. Copilot's own exit code is in it; a failure that was told
// by an event says more.
func (d *copilotDecoder) result(ev copilotEvent, emit func(stream.Event)) {
	d.message.end(emit)
	d.session.tell(stream.SessionStart{Backend: "copilot", SessionID: ev.SessionID}, emit)
	d.done = true
	if ev.ExitCode != 0 && d.failure == "" {
		d.failure.tell(stream.Error{Message: fmt.Sprintf("copilot ended with exit code %d", ev.ExitCode)}, emit)
	}
}
