package decode

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// acpDecoder reads what an agent of the Agent Client Protocol (version 1) says: JSON-RPC, a
// message a line.
//
//	stream = (answer | update | question)*
//
// The answer to the prompt, which has a stopReason, ends the run, as does an error. An answer
// doesn't say what it is to, so what may fail without harm has a text as its id, and all else
// a number. Of a tool call anything may come first and anything more than once: it is
// put together by its id, and told when it is known what it does.
type acpDecoder struct {
	common
	speaker  string     // author of the open message: its id as the agent has it; adapters speak under others, or none
	open     []*acpCall // calls without a result, oldest first
	over     stream.Recent[bool]
	rested   bool   // all calls of the turn have ended: the next update belongs to the next model call
	isActive bool   // it has said or done something
	stranger string // the first other session of which it told something, "" for none
}

func (d *acpDecoder) Close(emit func(stream.Event)) {
	d.message.end(emit)
	for len(d.open) > 0 {
		d.result(d.open[0], true, emit)
	}
}

// acpMessage holds the fields of all messages that matter.
type acpMessage struct {
	ID     json.RawMessage
	Method string
	Params struct {
		SessionID string
		RequestID json.RawMessage // of $/cancel_request
		Update    acpUpdate
		ToolCall  acpUpdate // of session/request_permission
		Options   []struct{ OptionID, Kind string }
	}
	Result json.RawMessage
	Error  *acpError
}

// acpUpdate is something new of a session, or a tool call that is asked about.
type acpUpdate struct {
	SessionUpdate string
	MessageID     string
	Content       json.RawMessage // a block of a message, or the blocks of a call

	ToolCallID, Name, Title, Kind, Status string
	RawInput, RawOutput                   json.RawMessage
	Locations                             []struct{ Path string }

	Used, Size jsoncursor.Int
	Cost       struct {
		Amount   amount
		Currency string
	}
	ConfigOptions []acpOption
	Meta          acpMeta `json:"_meta"`
}

// acpMeta is what some agents say beside the protocol.
type acpMeta struct {
	Model      string `json:"_claude/model"`
	ClaudeCode struct{ ToolName string }
	PiACP      struct{ Running bool }
	Output     struct{ Data string } `json:"terminal_output"`
	Delta      struct{ Data string } `json:"terminal_output_delta"`
	Exit       struct {
		Code jsoncursor.Int `json:"exit_code"`
	} `json:"terminal_exit"`
	Quota struct {
		Count struct {
			Input  jsoncursor.Int `json:"input_tokens"`
			Output jsoncursor.Int `json:"output_tokens"`
		} `json:"token_count"`
	}
}

type acpOption struct{ Category, CurrentValue string }

// acpAnswer holds the fields of all answers.
type acpAnswer struct {
	AgentInfo     struct{ Name, Version string } // to initialize
	SessionID     string                         // to session/new
	ConfigOptions []acpOption
	Outcome       json.RawMessage // to _session/steering
	StopReason    string          // to session/prompt
	Usage         struct {
		InputTokens, OutputTokens, CachedReadTokens, CachedWriteTokens jsoncursor.Int
	}
	Meta acpMeta `json:"_meta"`
}

type acpError struct {
	Code    int
	Message string
	Data    json.RawMessage
}

func (d *acpDecoder) Decode(line []byte, emit func(stream.Event)) error {
	var m acpMessage
	if err := readEvent(line, &m); err != nil {
		return err
	}
	id := string(m.ID)
	if id == "null" {
		id = ""
	}
	if d.isForeign(m) {
		if id != "" { // it waits to be refused
			emit(stream.Question{ID: id, Method: m.Method})
		}
		return nil
	}
	d.tellKnown(m.Params.Update.ToolCallID, emit)
	switch {
	case m.Method == "session/update":
		d.update(m.Params.Update, emit)
	case m.Method == "$/cancel_request":
		emit(stream.Withdrawn{ID: string(bytes.TrimSpace(m.Params.RequestID))})
	case m.Method == "session/request_permission":
		d.ask(id, m, emit)
	case m.Method != "" && id != "":
		emit(stream.Question{ID: id, Method: m.Method})
	case m.Method == "" && id != "":
		d.answer(id, m, emit)
	}
	return nil
}

// isForeign says whether a message is about another session than the run's: nothing in it was said, asked or spent
// for the run. Before the run has its session, none is known to be another, and nothing can be the run's.
func (d *acpDecoder) isForeign(m acpMessage) bool {
	theirs, ours := m.Params.SessionID, d.session.SessionID
	if m.Method == "" || theirs == "" || theirs == ours {
		return false
	}
	if ours != "" {
		d.stranger = cmp.Or(d.stranger, theirs)
	}
	return true
}

// Ignored says what of the output didn't count, and why; "" for nothing.
func (d *acpDecoder) Ignored() string {
	if d.stranger == "" {
		return ""
	}
	return fmt.Sprintf("the agent spoke of another session than this run's (%s): nothing of that counts", stream.Line(d.stranger, 60))
}

// answer reads what the agent says to one of our requests.
func (d *acpDecoder) answer(id string, m acpMessage, emit func(stream.Event)) {
	to, err := strconv.Unquote(id)
	mayFail := err == nil
	if !mayFail {
		to = id
	}
	if m.Error != nil {
		if mayFail {
			emit(stream.Answered{ID: to, Failure: cmp.Or(m.Error.Message, "it failed")})
			return
		}
		d.fail(m.Error.event(), emit)
		return
	}
	var a acpAnswer
	_ = readEvent(m.Result, &a) // an answer of another kind means nothing here
	outcome, _ := strconv.Unquote(string(a.Outcome))
	name := a.AgentInfo.Name[strings.LastIndexByte(a.AgentInfo.Name, '/')+1:] // of a package of npm
	session := cmp.Or(d.session.SessionID, a.SessionID)                       // no later answer makes it another
	d.session.tell(stream.SessionStart{Backend: name, Version: a.AgentInfo.Version, SessionID: session,
		Model: acpModel(a.ConfigOptions)}, emit)
	switch {
	case a.StopReason != "":
		d.end(a, emit)
	case mayFail && outcome == "injected":
		emit(stream.Heard{ID: to})
	default:
		emit(stream.Answered{ID: to, Result: compactJSON(m.Result)})
	}
}

// acpModel is the model that options say, "" where they say none.
func acpModel(options []acpOption) (model string) {
	for _, o := range options {
		if o.Category == "model" && o.CurrentValue != "default" { // which is none's name
			model = cmp.Or(o.CurrentValue, model)
		}
	}
	return model
}

func (d *acpDecoder) update(u acpUpdate, emit func(stream.Event)) {
	switch u.SessionUpdate {
	case "agent_message_chunk":
		d.speak(u.MessageID, emit)
		d.message.show(acpText(u.Content), false, emit)
	case "agent_thought_chunk":
		d.speak(u.MessageID, emit)
		d.message.think(acpText(u.Content), emit)
	case "tool_call", "tool_call_update":
		d.tool(u, false, emit)
	case "session_info_update":
		if u.Meta.PiACP.Running { // the text before is pi-acp's own: its version and the like
			d.message.end(emit)
			d.isActive = false
		}
	case "config_option_update":
		d.session.tell(stream.SessionStart{Model: acpModel(u.ConfigOptions)}, emit)
	case "usage_update":
		d.session.tell(stream.SessionStart{Model: u.Meta.Model}, emit)
		d.usage.Context, d.usage.ContextSize = int64(u.Used), int64(u.Size)
		if cost := stream.Cost(u.Cost.Amount); cost.Known && (u.Cost.Currency == "" || u.Cost.Currency == "USD") {
			d.usage.Cost = cost
		}
		emit(d.usage)
	}
}

// speak opens the message with that id, which is another one behind a tool.
func (d *acpDecoder) speak(id string, emit func(stream.Event)) {
	d.isActive = true
	d.next(emit)
	if id != d.speaker {
		d.message.end(emit)
	}
	d.speaker = id
	d.message.open("", emit) // an agent goes on under the same id behind a tool
}

// next ends the turn whose tools have all ended. The protocol doesn't tell one model call from
// another.
func (d *acpDecoder) next(emit func(stream.Event)) {
	if d.rested {
		d.rested = false
		emit(stream.TurnEnd{StopReason: "tool_use"})
	}
}

// ask hands on what the agent wants to be allowed.
func (d *acpDecoder) ask(id string, m acpMessage, emit func(stream.Event)) {
	call := d.tool(m.Params.ToolCall, true, emit)
	q := stream.Question{ID: id, Method: "can_use_tool", Tool: call.Name, CallID: call.ID, Input: call.Input,
		Message: cmp.Or(m.Params.ToolCall.Title, call.Detail())}
	for _, o := range m.Params.Options {
		switch o.Kind { // the rules that count are the loop's, so nothing is allowed or refused for longer
		case "allow_once":
			q.Yes = cmp.Or(q.Yes, o.OptionID)
		case "reject_once":
			q.No = cmp.Or(q.No, o.OptionID)
		}
	}
	emit(q)
}

// end reads the answer to the prompt.
func (d *acpDecoder) end(a acpAnswer, emit func(stream.Event)) {
	said := d.message.text.String()
	d.Close(emit)
	d.rested = false
	u := a.Usage
	d.usage.Tokens = d.usage.Tokens.Plus(tokensOf(u.InputTokens, u.OutputTokens, u.CachedReadTokens, u.CachedWriteTokens))
	if d.usage.Tokens == (stream.Tokens{}) {
		d.usage.Tokens = tokensOf(a.Meta.Quota.Count.Input, a.Meta.Quota.Count.Output, 0, 0)
	}
	var problem stream.Error
	isSilent := d.usage.Tokens == (stream.Tokens{}) && !d.usage.Cost.Known
	failure, failed := strings.CutPrefix(said, "Error: ")
	switch {
	case a.StopReason == "cancelled":
		problem = stream.Error{Message: "the run was cancelled", Kind: stream.KindAborted}
	case a.StopReason != "end_turn":
		problem = stream.Error{Message: "the agent stopped: " + a.StopReason}
	case !d.isActive && isSilent:
		problem = stream.Error{Message: "the agent ended its turn without a word: its model may have failed"}
	case failed && isSilent && d.over.Len() == 0: // copilot's way to say that its model has failed
		problem = stream.ClassifyError(0, failure, time.Now())
	}
	emit(stream.TurnEnd{StopReason: a.StopReason, Error: problem.Message})
	if d.usage != (stream.Usage{}) {
		emit(d.usage)
	}
	if problem.Message != "" {
		emit(problem)
	}
	d.done = true
}

// fail ends a run for which the agent has no other answer.
func (d *acpDecoder) fail(e stream.Error, emit func(stream.Event)) {
	d.Close(emit)
	e.Refused = d.session.SessionID == "" // before there was one, nothing was begun
	emit(e)
	d.done = true
}

// event says what an error means.
func (e acpError) event() stream.Error {
	var data struct{ ErrorKind, Details, Message string }
	if text := jsoncursor.New(e.Data).Text(); text != "" {
		data.Details = text
	} else {
		_ = readEvent(e.Data, &data) // or it says nothing more
	}
	message := cmp.Or(strings.TrimPrefix(e.Message, "Internal error: "), "the agent's answer is an error")
	if more := cmp.Or(data.Details, data.Message); more != "" && !strings.Contains(message, more) {
		message += ": " + more
	}
	status := 0
	if e.Code >= 400 && e.Code < 600 {
		status = e.Code
	}
	event := stream.ClassifyError(status, message, time.Now())
	switch {
	case e.Code == -32000:
		event.Kind = stream.KindAuth
	case e.Code == -32800:
		event.Kind = stream.KindAborted
	case data.ErrorKind == "rate_limit":
		event.Kind = stream.KindRateLimit
	}
	return event
}

// acpText is the text of a message's block.
func acpText(raw json.RawMessage) string {
	var block acpBlock
	_ = readEvent(raw, &block) // another kind has none
	if block.Type == "image" {
		return "[image]"
	}
	return block.Text
}

// acpBlock is a piece of a message, or of what a call came to.
type acpBlock struct {
	Type, Text             string
	Content                *acpBlock // of what a call came to
	Path, OldText, NewText string    // of a diff
}
