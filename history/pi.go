package history

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// piEntry is a line of a pi session. raw values are valid as long as the line.
type piEntry struct {
	kind, id   string
	messageID  string
	ours       bool
	message    *message
	customType string
	cwd        string
	data       []byte
	content    []part
	hidden     bool // display is false
	details    []byte
	provider   string
	modelID    string
	summary    string
	usage      stream.Usage
	usageKind  string
	total      []byte
}

// readEntry reads the entry at the cursor.
func readEntry(c *jsoncursor.Cursor) (e piEntry) {
	c.Members("type", &e.kind, "id", &e.id, "cwd", &e.cwd, "messageId", func() { e.messageID, e.ours = c.Text(), true },
		"message", func() { e.message = readMessage(c) }, "customType", &e.customType, "data", &e.data,
		"content", func() { e.content = readContent(c) }, "display", func() { e.hidden = !c.Bool() }, "details", &e.details,
		"provider", &e.provider, "modelId", &e.modelID, "summary", &e.summary, "usage", func() { e.usage = readUsage(c) },
		"kind", &e.usageKind, "total", &e.total)
	return e
}

// silent are the entries of pi that there is nothing to show of.
var silent = []string{"thinking_level_change", "label", "session_info", "context_edit"}

// piLine hands one entry on; false means that it can't be read.
func (d *decoder) piLine(line []byte) bool {
	c := jsoncursor.New(line)
	e := readEntry(c)
	if !c.Done() || e.kind == "" {
		return false
	}
	switch e.kind {
	case "session":
		d.dir = e.cwd
		d.atWork(stream.SessionStart{Backend: "pi", SessionID: e.id})
	case "model_change":
		now := d.session
		now.Provider, now.Model = known(e.provider), known(e.modelID)
		d.atWork(now)
	case "message":
		return e.message != nil && d.piMessage(e)
	case "custom":
		return d.custom(e, line)
	case "custom_message":
		d.customMessage(e)
	case "usage":
		return d.extraUsage(e)
	case "compaction":
		d.h.Handle(stream.Compaction{Done: true})
		d.note("compaction", e.summary)
		d.use(e.usage)
	case "branch_summary":
		d.note("branch summary", e.summary)
		d.use(e.usage)
	default:
		if !slices.Contains(silent, e.kind) {
			d.note(e.kind, string(line))
		}
	}
	return true
}

// known is a word that isn't unknown.
func known(word string) string {
	if word == unknown {
		return ""
	}
	return word
}

// atWork tells who is at work, when that is news.
func (d *decoder) atWork(now stream.SessionStart) {
	if now.SessionID != "" && now.Model == "" && d.session == (stream.SessionStart{}) {
		d.session = now // the header: who works in it is still to be seen
		return
	}
	if now != d.session {
		d.session = now
		d.h.Handle(now)
	}
}

func (d *decoder) piMessage(e piEntry) bool {
	m := e.message
	switch m.role {
	case "user":
		if text := textOf(m.parts); text != "" {
			d.h.HandleRecord(Input{Kind: InputUser, Text: text, ID: e.id})
		}
	case "assistant":
		d.assistant(e)
	case "toolResult":
		d.result(stream.ToolResult{ID: m.toolCallID, Output: textOf(m.parts), IsError: m.isError, Spent: m.spent})
		d.use(m.toolUsage())
	case "bashExecution": // a command that the user ran with !
		input, _ := json.Marshal(map[string]string{"command": m.command}) // can't fail
		d.h.Handle(stream.ToolCall{ID: e.id, Name: "bash", Input: input})
		d.h.Handle(stream.ToolResult{ID: e.id, Output: m.output, IsError: m.failed})
	case "custom", "hookMessage":
		if m.display {
			d.note(m.customType, textOf(m.parts))
		}
	case "system", "branchSummary", "compactionSummary":
	case "":
		return false
	default:
		d.note(m.role, textOf(m.parts))
	}
	return true
}

// assistant tells a message of the agent, apart from what its tool calls have
// told of it already.
func (d *decoder) assistant(e piEntry) {
	m := e.message
	id := e.messageID
	if !e.ours {
		id = e.id
	}
	if m.provider != "" && m.provider != unknown && d.session.Backend == "pi" {
		now := d.session
		now.Provider, now.Model = m.provider, m.model
		d.atWork(now)
	}
	if thoughts := thinkingOf(m.parts); thoughts != "" {
		d.h.Handle(stream.Thinking{Delta: thoughts, MessageID: id})
	}
	text := textOf(m.parts)
	d.tell(id, text)
	if text != "" || m.stopReason != "error" {
		d.h.Handle(stream.MessageEnd{MessageID: id, Text: text})
	}
	for _, p := range m.parts {
		if p.kind == "toolCall" {
			d.call(p.call, false)
		}
	}
	if m.errorMessage != "" {
		d.fail(m)
	}
	d.message, d.told = "", 0
	d.h.Handle(stream.TurnEnd{StopReason: m.stopReason, Error: m.errorMessage, Usage: m.usage})
	d.use(m.usage)
}

// tell tells the rest of a message's text.
func (d *decoder) tell(id, text string) {
	if d.message == id && d.told <= len(text) {
		text = text[d.told:]
	}
	if text != "" {
		d.h.Handle(stream.Text{Delta: text, MessageID: id})
	}
}

// fail tells why a message failed.
func (d *decoder) fail(m *message) {
	e := stream.ClassifyError(0, m.errorMessage, time.Now())
	if m.stopReason == "aborted" {
		e.Kind, e.Retryable = stream.KindAborted, false
	}
	d.h.Handle(e)
}

// call tells of a tool call, once. noted: its message is still to come.
func (d *decoder) call(c stream.ToolCall, noted bool) {
	if d.calls == nil {
		d.calls = map[string]bool{}
	}
	if d.calls[c.ID] { // it was noted, and this is its message
		d.calls[c.ID] = false
		return
	}
	d.calls[c.ID] = noted
	c.Dir = d.dir
	d.h.Handle(c)
}

func (d *decoder) result(r stream.ToolResult) {
	delete(d.calls, r.ID)
	d.h.Handle(r)
}

// use adds usage to the run's.
func (d *decoder) use(u stream.Usage) {
	if u == (stream.Usage{}) {
		return
	}
	d.setRun(d.run.Plus(u))
}

func (d *decoder) setRun(run stream.Usage) {
	d.run = run
	d.h.Handle(run)
}

// extraUsage reads usage that belongs to no message.
func (d *decoder) extraUsage(e piEntry) bool {
	if e.usageKind != usageKind || e.total == nil {
		e.usage.Context = 0 // a cache was kept warm, or the like
		d.use(e.usage)
		return true
	}
	var total totalUsage
	if json.Unmarshal(e.total, &total) != nil {
		return false
	}
	d.setRun(total.usage())
	return true
}

// customMessage tells what was fed to the agent by somebody else than its user.
func (d *decoder) customMessage(e piEntry) {
	text := textOf(e.content)
	if e.customType != InputType {
		if !e.hidden {
			d.note(e.customType, text)
		}
		return
	}
	var from inputDetails
	_ = json.Unmarshal(e.details, &from) // without details it counts whether it is shown
	switch {
	case from.Kind == InputAgent, from.Kind == InputUser:
	case e.hidden:
		from.Kind = InputCallback
	case from.Kind != InputCallback:
		from.Kind = InputAgent
	}
	d.h.HandleRecord(Input{Kind: from.Kind, Text: text, ID: e.id, FromAgentID: from.FromAgentID, FromSessionID: from.FromSessionID})
}

// maxNote is how much of an entry that we don't know is shown, in bytes.
const maxNote = 2000

// note shows an entry of another program's.
func (d *decoder) note(label, text string) { d.h.HandleRecord(noteOf(label, text)) }

// noteOf shortens what is to be shown.
func noteOf(label, text string) Note {
	if len(text) > maxNote {
		text = text[:maxNote]
		for !utf8.ValidString(text) {
			text = text[:len(text)-1]
		}
		text += "…"
	}
	if label == "" {
		label = "custom"
	}
	return Note{Label: label, Text: strings.TrimSpace(text)}
}
