package decode

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// claudeMessage is an assistant message in the making.
type claudeMessage struct {
	id, parent string
	blocks     []string // the texts of its assistant events
	size       int      // of blocks, in bytes
	stopReason string
	tokens     stream.Tokens
	final      bool // tokens are those at the end of the message
	confirmed  bool // there was an assistant event
	aborted    bool
	shown      bool // there was text or thinking to see
	told       bool // its end was told, with all text up to then

	// Of the content block in progress:
	textDeltas, thinkingDeltas joiner
	liveText, liveThinking     bool // deltas have shown it
}

// add takes in a text. Of a message of many that are too long together, the last
// ones stay.
func (m *claudeMessage) add(text string) {
	const perBlock = 16 // bytes that it takes besides its text
	if text == "" {
		return
	}
	m.blocks = append(m.blocks, text)
	m.size += perBlock + len(text)
	for m.size > maxText && len(m.blocks) > 1 {
		m.size -= perBlock + len(m.blocks[0])
		m.blocks[0], m.blocks = "", m.blocks[1:]
	}
}

func (m *claudeMessage) text() string { return strings.Join(m.blocks, "\n") }

// showText emits text. The first piece of a further block starts a new line,
// so that the pieces add up to what MessageEnd says.
func (m *claudeMessage) showText(text string, emit func(stream.Event)) {
	if text == "" {
		return
	}
	if !m.liveText && len(m.blocks) > 0 {
		text = "\n" + text
	}
	m.shown, m.liveText = true, true
	emit(stream.Text{Delta: text, MessageID: m.id, ParentToolCallID: m.parent})
}

func (m *claudeMessage) showThinking(text string, emit func(stream.Event)) {
	if text == "" {
		return
	}
	m.shown, m.liveThinking = true, true
	emit(stream.Thinking{Delta: text, MessageID: m.id, ParentToolCallID: m.parent})
}

// flush shows what the deltas have held back.
func (m *claudeMessage) flush(emit func(stream.Event)) {
	m.showText(m.textDeltas.flush(), emit)
	m.showThinking(m.thinkingDeltas.flush(), emit)
}

// claudeStream is the part of a raw Messages API event that matters here.
type claudeStream struct {
	kind       []byte
	deltaKind  []byte
	delta      []byte // text or thinking
	start, end int    // where delta stands, with its quotes
	id         string
	stopReason string
	tokens     stream.Tokens
}

// streamEvent shows a delta and keeps the books of its message. A delta's line
// is read only as far as needed.
func (d *claudeDecoder) streamEvent(line []byte, emit func(stream.Event)) error {
	var ev claudeStream
	var parent []byte
	knowsParent := false
	c := jsoncursor.New(line)
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "event":
			readClaudeStream(c, &ev)
		case "parent_tool_use_id":
			parent, knowsParent = c.RawText(), true
		}
		if knowsParent && !c.Broken() && string(ev.kind) == "content_block_delta" {
			if ev.delta != nil {
				d.shape.learn(line, ev.start, ev.end, c.Pos(), ev.deltaKind, parent)
			}
			d.delta(ev.deltaKind, ev.delta, parent, emit)
			return nil
		}
	}
	if !c.Done() {
		return ErrMalformed
	}
	switch string(ev.kind) {
	case "content_block_delta":
		d.delta(ev.deltaKind, ev.delta, parent, emit)
	case "message_start":
		d.begin(string(parent), ev.id, emit).tokens = ev.tokens
	case "message_delta":
		if m := d.message(parent); m != nil {
			m.stopReason, m.tokens, m.final = ev.stopReason, ev.tokens, true
		}
	case "message_stop":
		if m := d.message(parent); m != nil && m.confirmed {
			d.finish(m, emit)
		}
	}
	return nil
}

func readClaudeStream(c *jsoncursor.Cursor, ev *claudeStream) {
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "type":
			ev.kind = c.RawText()
		case "delta":
			for delta := c.Object(); delta.Next(); {
				switch string(delta.Key) {
				case "type":
					ev.deltaKind = c.RawText()
				case "text", "thinking":
					ev.delta = c.RawText()
					ev.end = c.Pos()
					ev.start = ev.end - len(ev.delta) - len(`""`)
				case "stop_reason":
					ev.stopReason = c.Text()
				}
			}
		case "message":
			c.Members("id", &ev.id, "usage", func() { ev.tokens = readClaudeTokens(c) })
		case "usage":
			ev.tokens = readClaudeTokens(c)
		}
	}
}

// delta shows a piece of text or thinking.
func (d *claudeDecoder) delta(kind, delta, parent []byte, emit func(stream.Event)) {
	isText := string(kind) == "text_delta"
	if !isText && string(kind) != "thinking_delta" {
		return
	}
	m := d.message(parent)
	if m == nil {
		m = d.begin(string(parent), "", emit)
	}
	if isText {
		m.showText(m.textDeltas.join(delta), emit)
	} else {
		m.showThinking(m.thinkingDeltas.join(delta), emit)
	}
}

// readClaudeTokens reads the usage of one model call.
func readClaudeTokens(c *jsoncursor.Cursor) (t stream.Tokens) {
	c.Members("input_tokens", &t.Input, "output_tokens", &t.Output, "cache_read_input_tokens", &t.CacheRead,
		"cache_creation_input_tokens", &t.CacheWrite)
	return t
}

// claudeAssistant is an assistant event. content is raw JSON and valid only as
// long as its line.
type claudeAssistant struct {
	parent, id, model string
	content           []byte
	tokens            stream.Tokens
	aborted           bool
	apiError          bool
	status            int64
	errorName         string
	stopReason        string // amp's messages have it
}

// assistant reads one content block of a message, or an error that claude
// dresses up as a message.
func (d *claudeDecoder) assistant(line []byte, emit func(stream.Event)) error {
	c := jsoncursor.New(line)
	var a claudeAssistant
	c.Members("parent_tool_use_id", &a.parent, "aborted", &a.aborted, "is_api_error_message", &a.apiError, "api_error_status", &a.status,
		"error", &a.errorName, "message", func() {
			c.Members("id", &a.id, "model", &a.model, "content", &a.content, "stop_reason", &a.stopReason,
				"usage", func() { a.tokens = readClaudeTokens(c) })
		})
	if !c.Done() {
		return ErrMalformed
	}
	if a.apiError || a.model == "<synthetic>" {
		if a.parent == "" {
			d.finishAll(false, emit)
			d.fail(claudeError(int(a.status), contentText(a.content), a.errorName), emit)
		}
		return nil
	}
	if open := d.message([]byte(a.parent)); a.id == "" && (open == nil || open.id != "") {
		d.nameless++
		a.id = fmt.Sprintf("m%d", d.nameless)
	}
	m := d.begin(a.parent, a.id, emit)
	m.confirmed = true
	m.stopReason = cmp.Or(a.stopReason, m.stopReason)
	m.aborted = m.aborted || a.aborted
	if !m.final {
		m.tokens = a.tokens
	}
	m.flush(emit)
	blocks := jsoncursor.New(a.content)
	if blocks.Peek() == '"' {
		d.block(m, claudeBlock{kind: "text", text: blocks.Text()}, emit)
	}
	for content := blocks.Array(); content.Next(); {
		var b claudeBlock
		blocks.Members("type", &b.kind, "text", &b.text, "thinking", &b.thinking, "id", &b.id, "name", &b.name, "input", &b.input)
		d.block(m, b, emit)
	}
	return nil
}

// claudeError says what an API error means. name is claude's own word for it,
// for messages that don't speak for themselves.
func claudeError(status int, message, name string) stream.Error {
	e := stream.ClassifyError(status, cmp.Or(message, name, "the model request failed"), time.Now())
	if e.Kind == stream.KindOther {
		e.Kind = stream.ClassifyError(0, name, time.Now()).Kind
	}
	return e
}

// claudeBlock is a content block of an assistant event.
type claudeBlock struct {
	kind, text, thinking string
	id, name             string
	input                []byte
}

// block takes an authoritative content block into its message, and shows it if
// no deltas have done so.
func (d *claudeDecoder) block(m *claudeMessage, b claudeBlock, emit func(stream.Event)) {
	switch b.kind {
	case "text":
		if !m.liveText && !m.aborted {
			m.showText(b.text, emit)
		}
		m.liveText = false
		m.add(b.text)
	case "thinking":
		if !m.liveThinking && !m.aborted {
			m.showThinking(b.thinking, emit)
		}
		m.liveThinking = false
	case "tool_use":
		call := stream.ToolCall{ID: b.id, Name: b.name, Input: compactJSON(b.input), ParentToolCallID: m.parent}
		if m.parent != "" && len(m.blocks) > 0 { // a subagent's text stands before its tool calls
			emit(stream.MessageEnd{MessageID: m.id, Text: m.text(), ParentToolCallID: m.parent})
			m.blocks, m.size, m.told = nil, 0, true
		}
		d.calls.Put(b.id, call.Detail())
		emit(call)
	}
}
