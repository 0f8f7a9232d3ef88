package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// mender goes through a session line by line. What it has nothing to say about
// goes through byte for byte.
type mender struct {
	out     io.Writer
	err     error // of out
	header  topLine
	topped  bool // the header was written
	moved   bool // and left out where it was
	number  int  // of the line
	ending  string
	fixes   []Fix
	last    string              // id of the entry written last
	nodes   map[string]mendNode // the entries so far, by id
	renamed map[string]string   // ids that were given twice: what the second one is called now

	open []stream.ToolCall // calls of the last message that have no result
	tip  string            // where their results belong: that message, or what follows it
}

// mendNode is what is to be known of an entry that others refer to.
type mendNode struct {
	parent  string
	sum     uint64   // of its line
	context bool     // it is part of what the model sees
	calls   []string // of a message
	results bool     // it is a toolResult
	result  string   // its call
}

var seed = maphash.MakeSeed()

func (m *mender) fix(format string, args ...any) {
	m.fixes = append(m.fixes, Fix{m.number, fmt.Sprintf(format, args...)})
}

func (m *mender) write(line []byte) {
	if m.err != nil {
		return
	}
	_, m.err = m.out.Write(append(line[:len(line):len(line)], m.ending...))
}

// line passes a line on. torn: the file ends with it, without a newline.
func (m *mender) line(line []byte, torn bool) {
	if plain := withoutBOM(line); len(plain) < len(line) {
		m.fix("a byte order mark is removed")
		line = plain
	}
	if len(bytes.TrimSpace(line)) == 0 {
		m.write(line)
		return
	}
	n := strictNode(line)
	if !n.ok {
		if line, n = salvage(line); !n.ok {
			m.fix("a line that isn't an entry is removed")
			return
		}
		m.fix("an entry that was cut off is removed, the one after it is kept")
	}
	if torn {
		m.fix("the last line gets its end")
	}
	m.top()
	if n.kind == "session" {
		m.session(line)
		return
	}
	if m.header.v1 { // there is nothing that refers to anything
		m.write(line)
		return
	}
	m.entry(line, n)
}

// salvage returns the whole entry at the end of a line that begins with one
// that was cut off, as pi before 0.80 leaves it.
func salvage(line []byte) ([]byte, lineNode) {
	const begin = `{"type":"`
	for from := 1; ; {
		i := bytes.Index(line[min(from, len(line)):], []byte(begin))
		if i < 0 {
			return nil, lineNode{}
		}
		from += i
		if n := strictNode(line[from:]); n.ok {
			return line[from:], n
		}
		from++
	}
}

// top puts the header before everything else.
func (m *mender) top() {
	if m.topped || m.header.first {
		return
	}
	m.topped = true
	if m.header.found {
		m.fix("the header is moved to the beginning")
	} else {
		m.fix("the header is missing and is made anew")
	}
	m.write(m.header.line)
}

// session passes the header on, once.
func (m *mender) session(line []byte) {
	switch {
	case m.header.first && !m.topped:
		m.topped = true
		m.write(line)
	case !m.header.first && !m.moved && bytes.Equal(line, m.header.line):
		m.moved = true
	default:
		m.fix("a second header is removed")
	}
}

// entry passes an entry on, with an id of its own, a parent that there is, and
// its place in the conversation.
func (m *mender) entry(line []byte, n lineNode) {
	c := jsoncursor.New(line)
	e := readEntry(c)
	node := mendNode{sum: maphash.Bytes(seed, line)}
	if twin, ok := m.nodes[n.id]; ok && twin.sum == node.sum {
		m.fix("the entry %s, which is there twice, is removed", n.id)
		return
	}
	if n.stray {
		m.fix("a parent that isn't an id is replaced; the entry follows the one before it")
		line, n.parent = setMember(line, "parentId", m.last), m.last
	}
	node.parent = n.parent
	closes := place(e, &node)
	if closes {
		before := m.tip
		m.settle()
		if before != m.tip && node.parent == before {
			node.parent = m.tip
			line = setMember(line, "parentId", m.tip)
		}
	}
	line, n.id = m.identify(line, n.id)
	line = m.adopt(line, n, &node)
	if node.results && !m.follows(node) {
		m.fix("the result of the tool call %s, which is missing, becomes a placeholder", node.result)
		line = placeholder(n.id, node.parent, n.time, e.message)
		node = mendNode{parent: node.parent, sum: node.sum}
	}
	switch {
	case closes:
		m.open, m.tip = callsOf(e), n.id
	case node.parent == m.tip:
		m.answered(node.result, e)
		m.tip = n.id
	}
	m.nodes[n.id] = node
	m.last = n.id
	m.write(line)
}

// place says what an entry is in the conversation. closes: the results of the
// message before it can't follow any more.
func place(e piEntry, node *mendNode) (closes bool) {
	switch e.kind {
	case "custom_message", "compaction", "branch_summary":
		node.context = true
		return true
	case "message":
		if e.message == nil {
			return false
		}
	default:
		return false
	}
	switch e.message.role {
	case "system":
		return false
	case "toolResult":
		node.context, node.results, node.result = true, true, e.message.toolCallID
		return false
	}
	node.context = true
	for _, call := range callsOf(e) {
		node.calls = append(node.calls, call.ID)
	}
	return true
}

// callsOf returns the tool calls of a message that counts: pi leaves out one
// that failed.
func callsOf(e piEntry) (calls []stream.ToolCall) {
	m := e.message
	if m == nil || m.role != "assistant" || m.stopReason == "error" || m.stopReason == "aborted" {
		return nil
	}
	for _, p := range m.parts {
		if p.kind == "toolCall" {
			calls = append(calls, p.call)
		}
	}
	return calls
}

// answered takes a call for answered: by its result, or by an entry of ours
// that says that it was interrupted.
func (m *mender) answered(call string, e piEntry) {
	var data struct {
		ChatEventType string        `json:"chatEventType"`
		Payload       resultPayload `json:"payload"`
	}
	if e.customType == EventType && json.Unmarshal(e.data, &data) == nil && data.ChatEventType == eventToolResult && !data.Payload.Orphan {
		call = data.Payload.ToolCallID
	}
	m.open = slices.DeleteFunc(m.open, func(c stream.ToolCall) bool { return c.ID == call })
}

// settle gives the calls that are still open a result.
func (m *mender) settle() {
	for _, call := range m.open {
		m.fix("the tool call %s without a result gets one", call.ID)
		id := m.newID()
		line, err := marshalLine(messageEntry{node: nodeAt("message", id, m.tip, stamp(time.Now())), Message: toolResultMessage{
			Role: "toolResult", ToolCallID: call.ID, ToolName: call.Name, Content: []block{textBlock(InterruptedText)},
			IsError: true, Timestamp: time.Now().UnixMilli(),
		}})
		if err != nil {
			m.err = err
			return
		}
		m.nodes[id] = mendNode{parent: m.tip, context: true, results: true, result: call.ID}
		m.last, m.tip = id, id
		m.write(line[:len(line)-1])
	}
	m.open = nil
}

// identify gives an entry an id of its own.
func (m *mender) identify(line []byte, id string) ([]byte, string) {
	_, taken := m.nodes[id]
	switch {
	case id == "":
		id = m.newID()
		m.fix("an entry without an id gets %s", id)
	case taken:
		fresh := m.newID()
		m.fix("the id %s is there twice; the second entry is called %s", id, fresh)
		m.renamed[id] = fresh
		id = fresh
	default:
		return line, id
	}
	return setMember(line, "id", id), id
}

// adopt gives an entry a parent that there is.
func (m *mender) adopt(line []byte, n lineNode, node *mendNode) []byte {
	parent := node.parent
	if name, ok := m.renamed[parent]; ok && name != n.id {
		parent = name
	}
	if _, ok := m.nodes[parent]; parent != "" && !ok {
		m.fix("the parent %s of %s isn't there; it now follows the entry before it", parent, n.id)
		parent = m.last
	}
	if parent != n.parent && parent != node.parent {
		line = setMember(line, "parentId", parent)
	}
	node.parent = parent
	return line
}

// follows says whether a result comes behind its call, with nothing between
// them but other results, and is the first for it.
func (m *mender) follows(result mendNode) bool {
	for id := result.parent; id != ""; {
		n := m.nodes[id]
		switch {
		case slices.Contains(n.calls, result.result):
			return true
		case n.results && n.result == result.result, n.context && !n.results:
			return false
		}
		id = n.parent
	}
	return false
}

func (m *mender) newID() string {
	for {
		if id := newEntryID(); m.nodes[id].sum == 0 {
			return id
		}
	}
}

// placeholder is an entry that keeps a result without being in the context.
func placeholder(id, parent, time string, msg *message) []byte {
	line, _ := marshalLine(customEntry{nodeAt("custom", id, parent, time), EventType, eventData{ChatEventType: eventToolResult, Payload: resultPayload{
		ToolCallID: msg.toolCallID, Result: textOf(msg.parts), IsError: msg.isError, Orphan: true,
	}}}) // it has nothing that can't be encoded
	return line[:len(line)-1]
}

func nodeAt(kind, id, parent, time string) node {
	n := node{Type: kind, ID: id, Timestamp: time}
	if parent != "" {
		n.ParentID = &parent
	}
	return n
}

// setMember returns a line with another text for one of its members, or null
// for "". Of members that are there twice the last one counts.
func setMember(line []byte, name, text string) []byte {
	value := "null"
	if text != "" {
		quoted, _ := json.Marshal(text) // a text always can be
		value = string(quoted)
	}
	open := bytes.IndexByte(line, '{') + 1
	start, end := open, open
	c := jsoncursor.New(line)
	for o := c.Object(); o.Next(); {
		if string(o.Key) == name {
			size := len(c.Raw())
			start, end = c.Pos()-size, c.Pos()
		}
	}
	if end == open {
		value = `"` + name + `":` + value + ","
	}
	return slices.Concat(line[:start], []byte(value), line[end:])
}
