package history

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// custom tells an entry of ours, and shows any other by its label.
func (d *decoder) custom(e piEntry, line []byte) bool {
	if e.customType != EventType {
		data := e.data
		if data == nil {
			data = line
		}
		d.note(e.customType, string(data))
		return true
	}
	var event string
	var payload []byte
	c := jsoncursor.New(e.data)
	c.Members("chatEventType", &event, "payload", &payload)
	if event == "" {
		return false
	}
	return d.event(event, payload)
}

// event tells an event of ours. It returns false for a payload that isn't what
// the event has.
func (d *decoder) event(event string, payload []byte) bool {
	switch event {
	case eventLoopStart:
		return payloadOf(payload, func(r LoopStart) {
			d.endCalls()
			d.session = stream.SessionStart{Backend: r.Backend}
			d.h.HandleRecord(r)
		})
	case eventIterationStart:
		return payloadOf(payload, func(r IterationStart) {
			d.endCalls()
			d.run, d.message, d.told = stream.Usage{}, "", 0
			d.h.HandleRecord(r)
		})
	case eventIterationEnd:
		return payloadOf(payload, func(r IterationEnd) {
			d.run = stream.Usage{}
			d.h.HandleRecord(r)
		})
	case eventLoopEnd:
		return payloadOf(payload, func(r LoopEnd) { d.h.HandleRecord(r) })
	case eventToolCall:
		return d.noteCall(payload)
	case eventToolResult:
		return payloadOf(payload, func(p resultPayload) {
			d.result(stream.ToolResult{ID: p.ToolCallID, Output: p.Result, IsError: p.IsError, ParentToolCallID: p.ParentToolCallID, Spent: p.Spent.Of()})
		})
	case eventMessage:
		return payloadOf(payload, func(p messagePayload) { d.subagent(p) })
	case eventThinking:
		return payloadOf(payload, func(p messagePayload) { d.h.Handle(stream.Thinking{Delta: p.Text, MessageID: p.MessageID}) })
	case eventDiscard:
		return payloadOf(payload, func(p messagePayload) {
			if p.ParentToolCallID == "" {
				d.message, d.told = "", 0
			}
			d.h.Handle(stream.MessageEnd{MessageID: p.MessageID, ParentToolCallID: p.ParentToolCallID, Discarded: true})
		})
	case eventCallback:
		return payloadOf(payload, d.callback)
	}
	d.note(event, string(payload))
	return true
}

// payloadOf hands a payload on if it is one.
func payloadOf[P any](payload []byte, use func(P)) bool {
	var p P
	if json.Unmarshal(payload, &p) != nil {
		return false
	}
	use(p)
	return true
}

// endCalls ends the tools of a run that was never ended.
func (d *decoder) endCalls() {
	for _, id := range slices.Sorted(maps.Keys(d.calls)) {
		d.result(stream.ToolResult{ID: id, Output: InterruptedText, IsError: true})
	}
}

// noteCall tells a tool call, and the text of its message up to it.
func (d *decoder) noteCall(payload []byte) bool {
	p, ok := readCall(payload)
	if !ok {
		return false
	}
	if p.Text != "" {
		if d.message != p.MessageID {
			d.message, d.told = p.MessageID, 0
		}
		d.told += len(p.Text)
		d.h.Handle(stream.Text{Delta: p.Text, MessageID: p.MessageID})
	}
	call := stream.ToolCall{ID: p.ToolCallID, Name: p.ToolName, Input: p.Args, ParentToolCallID: p.ParentToolCallID}
	d.call(call, p.ParentToolCallID == "")
	return true
}

// readCall decodes the payload that there are most of.
func readCall(payload []byte) (p callPayload, ok bool) {
	c := jsoncursor.New(payload)
	isObject := c.Peek() == '{'
	c.Members("messageId", &p.MessageID, "text", &p.Text, "toolCallId", &p.ToolCallID, "toolName", &p.ToolName,
		"args", func() { p.Args = bytes.Clone(c.Raw()) }, "parentToolCallId", &p.ParentToolCallID)
	return p, isObject && c.Done()
}

// subagent tells what a subagent said.
func (d *decoder) subagent(p messagePayload) {
	if p.Text != "" {
		d.h.Handle(stream.Text{Delta: p.Text, MessageID: p.MessageID, ParentToolCallID: p.ParentToolCallID})
	}
	d.h.Handle(stream.MessageEnd{MessageID: p.MessageID, Text: p.Text, ParentToolCallID: p.ParentToolCallID})
}

// callback tells what an agent says behind its tool call, as others write it: it is a
// subagent's word, or is told to the agent unasked.
func (d *decoder) callback(p callbackPayload) {
	switch {
	case p.ParentToolCallID != "":
		d.subagent(messagePayload{p.MessageID, p.Result, p.ParentToolCallID})
	case p.FromAgentID != "":
		d.h.HandleRecord(Input{Kind: InputAgent, Text: p.Result, ID: p.MessageID, FromAgentID: p.FromAgentID, FromSessionID: p.FromSessionID})
	default:
		d.note(eventCallback, p.Result)
	}
}
