package decode

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// acpCall is a tool call as far as it is known.
type acpCall struct {
	stream.ToolCall
	title, kind, status string
	place               string // the first of the files that it is about
	diff                acpBlock
	output              tail
	exit                int
	isTold              bool
}

// acpKinds are names of tools by their kinds, for agents that don't tell names.
var acpKinds = map[string]string{"execute": "bash", "search": "grep", "other": "tool", "": "tool"}

// tool takes in what is said of a call. isAsked: the user is asked whether it may run, so that it
// is told whatever is known of it.
func (d *acpDecoder) tool(u acpUpdate, isAsked bool, emit func(stream.Event)) stream.ToolCall {
	d.isActive = true
	if _, isOver := d.over.Get(u.ToolCallID); isOver || u.ToolCallID == "" {
		return stream.ToolCall{ID: u.ToolCallID, Name: u.Name}
	}
	call := d.call(u.ToolCallID, emit)
	call.learn(u)
	call.Name = cmp.Or(call.Name, u.Name, u.Meta.ClaudeCode.ToolName)
	isAtWork := call.status != "" && call.status != "pending"
	if isAsked || isAtWork || len(call.Input) > 0 && call.kind != "edit" {
		call.tell(emit)
	}
	switch {
	case call.status == "completed", call.status == "failed":
		d.result(call, call.status == "failed", emit)
	case isAtWork && call.hear(u):
		emit(stream.ToolProgress{ID: call.ID, Output: call.output.String()})
	}
	return call.ToolCall
}

// tellKnown tells the calls that change a file, but for the one with an id. claude tells what they
// change piece by piece, and then something else.
func (d *acpDecoder) tellKnown(but string, emit func(stream.Event)) {
	for _, call := range d.open {
		if len(call.Input) > 0 && call.ID != but {
			call.tell(emit)
		}
	}
}

// tell tells the call, once.
func (c *acpCall) tell(emit func(stream.Event)) {
	if c.isTold {
		return
	}
	c.isTold = true
	c.Name, c.Input = cmp.Or(c.Name, acpKinds[c.kind], c.kind), c.input()
	emit(c.ToolCall)
}

// call is the one with an id, or a new one: then what was said before it is a message.
func (d *acpDecoder) call(id string, emit func(stream.Event)) *acpCall {
	if i := slices.IndexFunc(d.open, func(c *acpCall) bool { return c.ID == id }); i >= 0 {
		return d.open[i]
	}
	d.message.end(emit)
	d.next(emit)
	if len(d.open) == stream.MaxRecent {
		d.result(d.open[0], true, emit)
	}
	call := &acpCall{ToolCall: stream.ToolCall{ID: id}}
	d.open = append(d.open, call)
	return call
}

// result ends a call.
func (d *acpDecoder) result(call *acpCall, isError bool, emit func(stream.Event)) {
	d.open = slices.DeleteFunc(d.open, func(c *acpCall) bool { return c == call })
	d.over.Put(call.ID, true)
	d.rested = len(d.open) == 0
	if call.isTold {
		emit(stream.ToolResult{ID: call.ID, Output: call.output.String(), IsError: isError || call.exit > 0})
	}
}

// learn takes over what an update says of a call. Fields that it leaves out stay.
func (c *acpCall) learn(u acpUpdate) {
	c.title, c.kind, c.status = cmp.Or(u.Title, c.title), cmp.Or(u.Kind, c.kind), cmp.Or(u.Status, c.status)
	c.exit = max(c.exit, int(u.Meta.Exit.Code))
	if input := compactJSON(u.RawInput); len(input) > len("{}") && input[0] == '{' {
		c.Input = input
	}
	if len(u.Locations) > 0 {
		c.place = u.Locations[0].Path
	}
	for _, b := range acpBlocks(u.Content) {
		if b.Type == "diff" {
			c.diff = b
		}
	}
	if c.status == "completed" || c.status == "failed" {
		c.hear(u)
	}
}

// hear takes in what the call has come to so far. isNews: something has come.
func (c *acpCall) hear(u acpUpdate) (isNews bool) {
	if piece := u.Meta.Output.Data + u.Meta.Delta.Data; piece != "" { // pieces of what a terminal would show
		c.output.add(piece)
		return true
	}
	whole := acpOutput(u.RawOutput)
	if whole == "" {
		for _, b := range acpBlocks(u.Content) {
			if b.Type == "content" && b.Content != nil {
				whole += b.Content.Text
			}
		}
	}
	if whole == "" {
		return false
	}
	c.output = tail{}
	c.output.add(whole)
	return true
}

// acpOutput is the text of an output in an agent's own form.
func acpOutput(raw json.RawMessage) string {
	switch c := jsoncursor.New(raw); c.Peek() {
	case '"':
		return c.Text()
	case '{':
		var output, stdout string
		var content []byte
		c.Members("output", &output, "stdout", &stdout, "content", &content)
		return cmp.Or(output, stdout, contentText(content))
	}
	return ""
}

// input is what the call does, as the agents' own streams have it: the agent's words, or what
// is made of what it shows.
func (c *acpCall) input() json.RawMessage {
	var in any
	switch {
	case len(c.Input) > 0:
		return c.Input
	case c.diff.Type != "":
		in = map[string]any{"path": c.diff.Path, "edits": []any{map[string]string{"oldText": c.diff.OldText, "newText": c.diff.NewText}}}
	case c.kind == "execute":
		in = map[string]string{"command": c.title}
	case c.place != "":
		in = map[string]string{"path": c.place}
	default:
		in = map[string]string{"title": c.title}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(in) // texts can always be encoded
	return json.RawMessage(strings.TrimSpace(b.String()))
}

func acpBlocks(raw json.RawMessage) (blocks []acpBlock) {
	_ = json.Unmarshal(raw, &blocks) // other content has none
	return blocks
}
