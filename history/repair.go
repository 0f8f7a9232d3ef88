package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Fix is one thing in a session file that was mended, or would be.
type Fix struct {
	Line int    // where, 1 is the first
	What string // in one sentence
}

// String is "line 3: ...".
func (f Fix) String() string { return fmt.Sprintf("line %d: %s", f.Line, f.What) }

// Repair mends a pi session file that pi or a model's provider would stumble
// over, and tells what it did. cwd is the working directory for a session that
// has lost its header. The file as it was stays beside it, at backup; one that
// is healthy is left alone, and so is every file in a dry run.
//
// The error is a *FormatError for a file that is no pi session.
func Repair(path, cwd string, dryRun bool) (fixes []Fix, backup string, err error) {
	before, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("repairing the session: %w", err)
	case before.Mode()&fs.ModeSymlink != 0:
		return nil, "", fmt.Errorf("%s is a link: repair %s itself", path, paths.Real(path))
	}
	data, err := paths.ReadRegular(path, math.MaxInt64)
	if err != nil {
		return nil, "", fmt.Errorf("reading the session: %w", err)
	}
	m := mender{open: map[string][]stream.ToolCall{}, renamed: map[string]string{}}
	if err := m.mend(data, path, cwd); err != nil || len(m.fixes) == 0 || dryRun {
		return m.fixes, "", err
	}
	if now, err := os.Lstat(path); err != nil || now.Size() != before.Size() || !now.ModTime().Equal(before.ModTime()) {
		return nil, "", errors.New("repairing the session: somebody is writing to it: end the loop, or pi, first")
	}
	if backup, err = backUp(path, data); err == nil {
		err = paths.WriteOwn(path, m.out.Bytes(), true)
	}
	if err != nil {
		return nil, "", fmt.Errorf("repairing the session: %w", err)
	}
	return m.fixes, backup, nil
}

// backUp writes a copy to the first free name beside a file.
func backUp(path string, data []byte) (backup string, err error) {
	for n := 1; ; n++ {
		backup = path + ".bak"
		if n > 1 {
			backup = fmt.Sprintf("%s.bak%d", path, n)
		}
		to, err := os.OpenFile(backup, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = to.Write(data)
		return backup, errors.Join(err, to.Sync(), to.Close())
	}
}

// mender goes through a session line by line. What it has nothing to say about
// goes through byte for byte.
type mender struct {
	out     bytes.Buffer
	number  int // of the line
	fixes   []Fix
	last    string                       // id of the entry written last
	open    map[string][]stream.ToolCall // by entry: the calls that have no result yet, up to it on its branch
	renamed map[string]string            // ids that were given twice: what the second one is called now
}

func (m *mender) fix(format string, args ...any) {
	m.fixes = append(m.fixes, Fix{m.number, fmt.Sprintf(format, args...)})
}

// strictNode is readNode for lines that pi should read: it is more particular about what is JSON.
func strictNode(line []byte) lineNode {
	n := readNode(line)
	n.ok = n.ok && json.Valid(line)
	return n
}

// mend writes the session as it should be.
func (m *mender) mend(data []byte, path, cwd string) error {
	m.number = 1
	if plain := withoutBOM(data); len(plain) < len(data) {
		m.fix("a byte order mark is removed")
		data = plain
	}
	lines := slices.Collect(bytes.Lines(data))
	top, err := m.header(lines, path, cwd)
	if err != nil {
		return err
	}
	for i, line := range lines {
		m.number = i + 1
		if i == top {
			continue
		}
		if len(bytes.TrimSpace(line)) == 0 {
			m.out.Write(line)
			continue
		}
		n := strictNode(line)
		if !n.ok {
			if line, n = salvage(line); !n.ok {
				m.fix("a line that isn't an entry is removed")
				continue
			}
			m.fix("an entry that was cut off is removed, the one after it is kept")
		}
		line = m.ended(line)
		switch {
		case n.kind == "session":
			m.fix("a second header is removed")
		case top >= 0 && readNode(lines[top]).version < 2: // pi's first version has no ids, so nothing refers to anything
			m.out.Write(line)
		default:
			m.entry(line, n)
		}
	}
	m.settle(m.last)
	return nil
}

// header writes the session's header, or one for a session that has lost it, and says which of
// the lines it is; -1 is none.
func (m *mender) header(lines [][]byte, path, cwd string) (top int, err error) {
	entries, since := 0, stamp(time.Now())
	for i, line := range lines {
		switch n := strictNode(line); {
		case !n.ok:
		case n.claude:
			return 0, fmt.Errorf("%s is a transcript of claude's: only pi's sessions can be mended", path)
		case n.kind == "session" && n.id != "":
			if entries > 0 {
				m.fix("the header is moved to the beginning")
			}
			m.out.Write(m.ended(line))
			return i, nil
		case n.id != "":
			if entries++; entries == 1 && n.time != "" {
				since = n.time
			}
		}
	}
	if entries == 0 {
		return 0, &FormatError{Path: path}
	}
	m.fix("the header is missing and is made anew")
	line, err := marshalLine(header{Type: "session", Version: version, ID: newSessionID(time.Now()), Timestamp: since, CWD: paths.Real(cwd)})
	m.out.Write(line)
	return -1, err
}

// ended is a line with its end: pi would write the next entry behind it.
func (m *mender) ended(line []byte) []byte {
	if !bytes.HasSuffix(line, []byte("\n")) {
		m.fix("the last line gets its end")
		line = append(bytes.Clone(line), '\n')
	}
	return line
}

// salvage returns the whole entry at the end of a line that begins with one
// that was cut off, as pi before 0.80 leaves it.
func salvage(line []byte) ([]byte, lineNode) {
	for from := 1; from < len(line); from++ {
		i := bytes.Index(line[from:], []byte(`{"type":"`))
		if i < 0 {
			break
		}
		from += i
		if n := strictNode(line[from:]); n.ok {
			return line[from:], n
		}
	}
	return nil, lineNode{}
}

// entry passes an entry on, with an id of its own, a parent that there is, and a result for each
// call before the conversation goes on.
func (m *mender) entry(line []byte, n lineNode) {
	id, parent := n.id, n.parent
	if _, taken := m.open[id]; taken {
		id = m.newID()
		m.fix("the id %s is there twice; the second entry is called %s", n.id, id)
		m.renamed[n.id] = id
	} else if id == "" {
		id = m.newID()
		m.fix("an entry without an id gets %s", id)
	}
	if name, ok := m.renamed[parent]; ok && name != id {
		parent = name
	}
	if _, known := m.open[parent]; parent != "" && !known {
		m.fix("the parent %s of %s isn't there; it now follows the entry before it", parent, id)
		parent = m.last
	}
	e := readEntry(jsoncursor.New(line))
	open, answered := m.open[parent], answers(e)
	isOpen := slices.ContainsFunc(open, func(c stream.ToolCall) bool { return c.ID == answered })
	switch {
	case goesOn(e):
		parent, open = m.settle(parent), callsOf(e)
	case isOpen:
		open = slices.DeleteFunc(slices.Clone(open), func(c stream.ToolCall) bool { return c.ID == answered })
	case e.message != nil && e.message.role == "toolResult":
		m.fix("the result of the tool call %s, which is missing, becomes a placeholder", answered)
		line = placeholder(n.id, n.parent, n.time, e.message)
	}
	if id != n.id {
		line = setMember(line, "id", id)
	}
	if parent != n.parent {
		line = setMember(line, "parentId", parent)
	}
	m.write(id, line, open)
}

func (m *mender) write(id string, line []byte, open []stream.ToolCall) {
	m.out.Write(line)
	m.open[id], m.last = open, id
}

// goesOn says whether what the model sees goes on, so that results of the calls before can't follow.
func goesOn(e piEntry) bool {
	switch e.kind {
	case "custom_message", "compaction", "branch_summary":
		return true
	}
	return e.kind == "message" && e.message != nil && e.message.role != "system" && e.message.role != "toolResult"
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

// answers is the call that an entry is the result of, or of which an entry of ours says that it
// was interrupted.
func answers(e piEntry) string {
	if e.kind == "message" && e.message != nil {
		return e.message.toolCallID
	}
	var data struct {
		ChatEventType string        `json:"chatEventType"`
		Payload       resultPayload `json:"payload"`
	}
	if e.customType == EventType && json.Unmarshal(e.data, &data) == nil && data.ChatEventType == eventToolResult && !data.Payload.Orphan {
		return data.Payload.ToolCallID
	}
	return ""
}

// settle gives the calls that are open behind an entry a result, and returns the last of these.
func (m *mender) settle(after string) string {
	open := m.open[after]
	for i, call := range open {
		m.fix("the tool call %s without a result gets one", call.ID)
		id := m.newID()
		line, _ := marshalLine(messageEntry{node: nodeAt("message", id, after, stamp(time.Now())), Message: toolResultMessage{
			Role: "toolResult", ToolCallID: call.ID, ToolName: call.Name, Content: []block{textBlock(InterruptedText)},
			IsError: true, Timestamp: time.Now().UnixMilli(),
		}}) // it has nothing that can't be encoded
		m.write(id, line, open[i+1:])
		after = id
	}
	return after
}

func (m *mender) newID() string {
	for {
		id := newEntryID()
		if _, taken := m.open[id]; !taken {
			return id
		}
	}
}

// placeholder is an entry that keeps a result without being in the context.
func placeholder(id, parent, time string, msg *message) []byte {
	line, _ := marshalLine(customEntry{nodeAt("custom", id, parent, time), EventType, eventData{ChatEventType: eventToolResult, Payload: resultPayload{
		ToolCallID: msg.toolCallID, Result: textOf(msg.parts), IsError: msg.isError, Orphan: true,
	}}}) // nor has this
	return line
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
