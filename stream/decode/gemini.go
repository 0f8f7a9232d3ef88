package decode

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// geminiDecoder reads gemini's stream-json. It tells tokens, and no cost.
//
//	stream = init message(user) turn* result
//	turn   = message(assistant)* tool_use* tool_result*
//
// Each message line is a piece of one: a tool call or the result ends it. No line begins or ends a turn, either: text
// after results belongs to the next one. The result ends the run, and has its totals and, of a failed one, the
// reason.
type geminiDecoder struct {
	common
	turn geminiTurn
}

// geminiTurn is how far a model call has come, because nothing says so.
type geminiTurn int

const (
	geminiIdle    geminiTurn = iota
	geminiAnswers            // the model writes or calls tools
	geminiTools              // results came back
)

// geminiEvent holds the fields of all the kinds of events that matter.
type geminiEvent struct {
	Type       string
	SessionID  string `json:"session_id"`
	Model      string
	Role       string
	Content    string
	ToolID     string          `json:"tool_id"`
	ToolName   string          `json:"tool_name"`
	Parameters json.RawMessage // of tool_use
	Output     string          // of tool_result
	Status     string
	Severity   string
	Message    string // of error
	Error      errorObject
	Stats      geminiStats
}

// geminiStats are the totals of the run.
type geminiStats struct {
	Total  jsoncursor.Int `json:"total_tokens"`
	Input  jsoncursor.Int `json:"input_tokens"`
	Output jsoncursor.Int `json:"output_tokens"`
	Cached jsoncursor.Int
}

// tokens splits the totals. Cached tokens are in the input, and the rest that the total has beside its parts is
// reasoning, which is paid as output.
func (s geminiStats) tokens() stream.Tokens {
	return tokensOf(max(s.Input-s.Cached, 0), max(s.Output, s.Total-s.Input), s.Cached, 0)
}

func (d *geminiDecoder) Decode(line []byte, emit func(stream.Event)) error {
	var ev geminiEvent
	if err := readEvent(line, &ev); err != nil {
		return err
	}
	switch ev.Type {
	case "init":
		emit(stream.SessionStart{Backend: "gemini", Model: ev.Model, SessionID: ev.SessionID})
	case "message":
		if ev.Role == "assistant" { // the user's is the prompt
			d.answers(emit)
			d.message.open("", emit)
			d.message.show(ev.Content, false, emit)
		}
	case "tool_use":
		d.answers(emit)
		d.message.end(emit)
		d.called(stream.ToolCall{ID: ev.ToolID, Name: ev.ToolName, Input: compactJSON(ev.Parameters)}, emit)
	case "tool_result":
		d.turn = geminiTools
		result := stream.ToolResult{ID: ev.ToolID, Output: cmp.Or(ev.Error.message, ev.Output), IsError: ev.Status == "error"}
		d.ended(result, ev.Error.kind == "policy_violation", emit)
	case "error":
		if ev.Severity == "error" { // a warning ends nothing
			emit(stream.ClassifyError(0, ev.Message, time.Now()))
		}
	case "result":
		d.result(ev, emit)
	}
	return nil
}

// answers notes that the model is at work; results of tools ended the turn before.
func (d *geminiDecoder) answers(emit func(stream.Event)) {
	if d.turn == geminiTools {
		emit(stream.TurnEnd{StopReason: "tool_use"})
	}
	d.turn = geminiAnswers
	d.done = false
}

// result ends the run. Its totals belong to no single turn.
func (d *geminiDecoder) result(ev geminiEvent, emit func(stream.Event)) {
	d.message.end(emit)
	d.done = true
	end := stream.TurnEnd{StopReason: ev.Status}
	if ev.Status == "error" {
		e := geminiFailure(ev.Error.message)
		emit(e)
		end.Error = e.Message
	}
	if d.turn != geminiIdle || end.Error != "" {
		emit(end)
	}
	d.turn = geminiIdle
	emit(stream.Usage{Tokens: ev.Stats.tokens()})
}

// geminiFailure unwraps "[API Error: {...}]", which hides the provider's own words
// from what classifies them.
func geminiFailure(message string) stream.Error {
	if inner, ok := strings.CutPrefix(message, "[API Error: "); ok {
		message = strings.TrimSuffix(inner, "]")
	}
	return stream.ClassifyError(0, cmp.Or(message, "gemini failed"), time.Now())
}
