package decode

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
	"github.com/ralph-lsp/ralph-lsp/internal/lazy"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// opencodeDecoder reads what opencode writes with run --format json.
//
//	stream = step* [error]
//	step   = step_start (reasoning | text | tool_use)* step_finish
//
// A step is a model call with its tools. Each line is a whole part of it: a tool
// comes when it has ended, and a call that is tried again leaves no trace. No line
// ends the run. The stream just ends, after an error or a step_finish whose reason
// asks for no other step.
type opencodeDecoder struct {
	common
	refused bool // a tool of this step; opencode ends then
	resting bool // no other step has to follow: done, if the stream ends here
}

// Close makes up for the closing event that doesn't exist.
func (d *opencodeDecoder) Close(emit func(stream.Event)) {
	d.message.end(emit)
	d.done = d.resting
}

// opencodeEvent holds the fields of all the kinds of events that matter.
type opencodeEvent struct {
	Type      string
	SessionID string `json:"sessionID"`
	Error     struct {
		Name string
		Data struct {
			Message    string
			StatusCode jsoncursor.Int
		}
	}
	Part opencodePart
}

// opencodePart is a part of a message.
type opencodePart struct {
	MessageID string `json:"messageID"`
	Text      string
	CallID    string `json:"callID"`
	Tool      string
	State     opencodeState
	Reason    string // why the step ended
	Tokens    struct {
		Input, Output, Reasoning jsoncursor.Int
		Cache                    struct{ Read, Write jsoncursor.Int }
	}
	Cost amount
}

// opencodeState is the state of a tool that has ended.
type opencodeState struct {
	Status        string
	Input         json.RawMessage
	Output, Error string
	Metadata      struct{ Exit jsoncursor.Int } // of a command
}

// usage returns the usage of a step.
func (p opencodePart) usage() stream.Usage {
	t := p.Tokens
	tokens := tokensOf(t.Input, t.Output+t.Reasoning, t.Cache.Read, t.Cache.Write) // it leaves reasoning out
	return stream.Usage{Tokens: tokens, Cost: stream.Cost(p.Cost), Context: tokens.Total()}
}

func (d *opencodeDecoder) Decode(line []byte, emit func(stream.Event)) error {
	var ev opencodeEvent
	if err := readEvent(line, &ev); err != nil || ev.Type == "" {
		return err
	}
	if ev.SessionID != "" {
		d.session.tell(stream.SessionStart{Backend: "opencode", SessionID: ev.SessionID}, emit)
	}
	switch part := ev.Part; ev.Type {
	case "step_start":
		d.resting, d.refused = false, false
		d.message.open(part.MessageID, emit)
	case "text":
		d.message.open(part.MessageID, emit)
		d.message.show(part.Text, true, emit)
	case "reasoning":
		d.message.open(part.MessageID, emit)
		d.message.think(part.Text, emit)
	case "tool_use":
		d.tool(part, emit)
	case "step_finish":
		d.finish(part, emit)
	case "error":
		d.message.end(emit)
		message := cmp.Or(ev.Error.Data.Message, ev.Error.Name, "opencode failed")
		emit(stream.ClassifyError(int(ev.Error.Data.StatusCode), message, time.Now()))
		d.resting = true
	}
	return nil
}

// tool reports a tool that has ended: nothing comes before. A command that failed
// is "completed" too, and known by its exit code; a refused tool by its error.
func (d *opencodeDecoder) tool(p opencodePart, emit func(stream.Event)) {
	call := stream.ToolCall{ID: p.CallID, Name: p.Tool, Input: compactJSON(p.State.Input)}
	result := stream.ToolResult{
		ID: p.CallID, Output: cmp.Or(p.State.Error, p.State.Output),
		IsError: p.State.Status == "error" || p.State.Metadata.Exit > 0,
	}
	isRefused := result.IsError && opencodeRefusal().MatchString(result.Output)
	d.refused = d.refused || isRefused
	d.called(call, emit)
	d.ended(result, isRefused, emit)
}

var opencodeRefusal = lazy.Regexp(`^The user (rejected permission|has specified a rule which prevents)`)

// finish ends a step. opencode goes on after tools, unless one was refused: then it
// ends, with exit code 0 and no word more.
func (d *opencodeDecoder) finish(p opencodePart, emit func(stream.Event)) {
	d.message.end(emit)
	d.resting = p.Reason != "tool-calls" || d.refused
	d.turnEnds(stream.TurnEnd{StopReason: p.Reason, Usage: p.usage()}, emit)
}
