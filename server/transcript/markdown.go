package transcript

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

const (
	// maxText bounds a document, in bytes: each refresh costs an editor time for all of it. Older text goes first.
	maxText = 192 << 10
	// maxOutputLines and maxOutput, in bytes, bound what is shown of a tool's output.
	maxOutputLines = 20
	maxOutput      = 4000
)

// Markdown is what a loop did as Markdown, the end of it where that is long.
type Markdown struct {
	rows  []*row
	calls map[string]*row // the tools of this iteration, by the calls' ids
	size  int             // of the rows, in bytes
	isCut bool            // the beginning is left out
}

// row is a paragraph of a transcript, or a part of an agent's message.
type row struct {
	message    string // whose part it is: who speaks, and the message's id; "": no text
	by         string // the kind of update that a text is
	header     int    // the iteration that begins here
	call       string // the id of a tool's call
	parent     string // the call that the call is below
	text, more string // more is Markdown of a block of its own
}

// Add takes an update that wire.Decode has read. What has no words adds nothing.
func (m *Markdown) Add(u wire.Update) {
	switch u := u.(type) {
	case wire.Chunk:
		if u.ParentToolCallID == "" { // else a subagent speaks: what it does is told by its call
			m.say(u.SessionUpdate, u.MessageID, u.Content.Text)
		}
	case wire.UserChunk:
		m.say(u.SessionUpdate, u.MessageID, u.Content.Text)
	case wire.Discard:
		m.discard(u.MessageID)
	case wire.ToolCall:
		m.call(u)
	case wire.ToolCallUpdate:
		m.result(u)
	case wire.Iteration:
		m.begin(u)
	case wire.IterationEnd:
		if h := m.header(); h != nil && h.header == u.Iteration { // one that was cut off has none
			m.change(h, "*"+u.Notice.Text+"*")
		}
	case wire.Note:
		m.tell(wire.Info(wire.JoinFacts(u.Label, u.Text)), "")
	case wire.Verify:
		m.tell(u.Notice, findings(u))
	case wire.Question:
		m.tell(u.Notice, u.Detail)
	case wire.End:
		m.push(&row{text: "---\n\n**" + tagged(u.Text) + "**", more: block(receipt(u.Receipt), "")})
	default:
		m.tell(wire.NoticeIn(u), "")
	}
}

// String returns the end of it that fits into a document.
func (m *Markdown) String() string {
	var shown []string
	left, isCut := maxText, m.isCut
	for i, r := range slices.Backward(m.rows) {
		if left <= 0 {
			isCut = true
			break
		}
		text := r.String()
		if goesOn := r.message != "" && i+1 < len(m.rows) && m.rows[i+1].message == r.message; !goesOn {
			text += "\n\n"
		}
		shown, left = append(shown, text), left-len(text)
	}
	if isCut {
		shown = append(shown, "*... the beginning is not kept ...*\n\n")
	}
	slices.Reverse(shown)
	return stream.Sanitize(strings.Join(shown, ""))
}

func (r *row) size() int { return len(r.text) + len(r.more) }

func (r *row) String() string {
	switch {
	case r.by == wire.KindUserChunk:
		return quoted(r.text)
	case r.by == wire.KindThoughtChunk:
		return "*Thinking:* " + r.text
	}
	return strings.Join(slices.DeleteFunc([]string{r.text, r.more}, func(s string) bool { return s == "" }), "\n\n")
}

// say adds a piece of a message. A long one is several rows, so that its beginning can go.
func (m *Markdown) say(by, id, text string) {
	message := by + " " + id
	last := len(m.rows) - 1
	if last >= 0 && m.rows[last].message == message && (by != wire.KindMessageChunk || len(m.rows[last].text) < maxOutput) {
		m.rows[last].text += text
		m.size += len(text)
		return
	}
	m.push(&row{message: message, by: by, text: text})
}

// discard takes back a message of this iteration: the ids of others are the same.
func (m *Markdown) discard(id string) {
	from := slices.Index(m.rows, m.header()) + 1
	kept := slices.DeleteFunc(m.rows[from:], func(r *row) bool {
		_, of, isText := strings.Cut(r.message, " ")
		isLost := isText && of == id
		if isLost {
			m.size -= r.size()
		}
		return isLost
	})
	m.rows = m.rows[:from+len(kept)]
}

func (m *Markdown) call(u wire.ToolCall) {
	text := "**" + u.Name + "**"
	if u.Title != u.Name {
		text += " " + code(u.Title)
	}
	if u.ParentToolCallID != "" {
		text = "> " + text
	}
	m.calls[u.ToolCallID] = m.push(&row{call: u.ToolCallID, parent: u.ParentToolCallID, text: text})
}

// result replaces the output of a call so far. That of a call that isn't here stands by itself.
func (m *Markdown) result(u wire.ToolCallUpdate) {
	r := m.calls[u.ToolCallID]
	if r == nil {
		r = m.push(&row{call: u.ToolCallID, parent: u.ParentToolCallID})
		m.calls[u.ToolCallID] = r
	}
	var more []string
	if u.Status == wire.StatusFailed {
		more = append(more, "✗ failed")
	}
	if output := u.Output(); strings.TrimSpace(output) != "" {
		more = append(more, block(shortened(output), "text"))
	}
	m.change(r, strings.Join(more, "\n\n"))
}

func (m *Markdown) begin(u wire.Iteration) {
	m.calls = map[string]*row{}
	text := []rune(u.Notice.Text)
	if len(text) > 0 {
		text[0] -= map[bool]rune{true: 'a' - 'A'}['a' <= text[0] && text[0] <= 'z']
	}
	m.push(&row{header: u.Iteration, text: "## " + string(text)})
}

// header is where this iteration begins; nil: that isn't here.
func (m *Markdown) header() *row {
	for _, r := range slices.Backward(m.rows) {
		if r.header > 0 {
			return r
		}
	}
	return nil
}

// tell adds what the loop tells, with what is behind it.
func (m *Markdown) tell(said wire.Notice, more string) {
	if said.Text == "" {
		return
	}
	mark := ""
	if said.Class == wire.ClassWarning || said.Class == wire.ClassError {
		mark = "⚠ "
	}
	m.push(&row{text: quoted(mark + tagged(said.Text)), more: block(shortened(more), "")})
}

// push adds a row; that of a call below another one stands behind what is below that already.
func (m *Markdown) push(r *row) *row {
	at := len(m.rows)
	for i, other := range slices.Backward(m.rows) {
		if r.parent == "" || other.header > 0 {
			break
		}
		if other.call == r.parent || other.parent == r.parent {
			at = i + 1
			break
		}
	}
	if m.calls == nil {
		m.calls = map[string]*row{}
	}
	m.rows = slices.Insert(m.rows, at, r)
	m.size += r.size()
	for m.size > 2*maxText && len(m.rows) > 1 { // String looks for the exact place
		m.size -= m.rows[0].size()
		m.rows[0] = nil
		m.rows, m.isCut = m.rows[1:], true
	}
	return r
}

// change says what else there is to show of a row, if that isn't left out.
func (m *Markdown) change(r *row, more string) {
	if !slices.Contains(m.rows, r) {
		return
	}
	m.size += len(more) - len(r.more)
	r.more = more
}

// findings are what a check names, and the end of its output.
func findings(u wire.Verify) string {
	var lines []string
	for _, p := range u.Problems {
		at := p.Path
		for _, n := range []int{p.Line, p.Column} {
			if n > 0 {
				at += fmt.Sprintf(":%d", n)
			}
		}
		lines = append(lines, at+": "+p.Message)
	}
	if u.Output != "" {
		lines = append(lines, u.Output)
	}
	return strings.Join(lines, "\n")
}

// receipt are the rows of a table, in columns.
func receipt(rows []wire.Detail) string {
	var lines []string
	for _, r := range rows {
		lines = append(lines, fmt.Sprintf("%-12s%s", r.Label, r.Text))
	}
	return strings.Join(lines, "\n")
}

func quoted(text string) string { return "> " + strings.ReplaceAll(text, "\n", "\n> ") }

// promise is a tag that would be markup.
var promise = regexp.MustCompile(`<promise>.*?</promise>`)

// tagged is a line of plain words in which what would be markup is code.
func tagged(text string) string { return promise.ReplaceAllStringFunc(text, code) }

// backticks are what ends code.
var backticks = regexp.MustCompile("`+")

// fence is longer than all that a text has of backticks.
func fence(text string, least int) string {
	for _, run := range backticks.FindAllString(text, -1) {
		least = max(least, len(run)+1)
	}
	return strings.Repeat("`", least)
}

// code is the text as code in a line.
func code(text string) string {
	f := fence(text, 1)
	if len(f) == 1 {
		return f + text + f
	}
	return f + " " + text + " " + f
}

// block is the text as a block that nothing in it ends; nothing of no text.
func block(text, language string) string {
	if text == "" {
		return ""
	}
	f := fence(text, 3)
	return f + language + "\n" + text + "\n" + f
}

// shortened has the first and the last lines of a long output.
func shortened(output string) string {
	lines := strings.Split(strings.TrimRight(output, " \t\r\n"), "\n")
	if left := len(lines) - maxOutputLines; left > 0 {
		gap := "... " + format.Counted(left, "line") + " ..."
		lines = slices.Concat(lines[:maxOutputLines/2], []string{gap}, lines[len(lines)-maxOutputLines/2:])
	}
	text := strings.Join(lines, "\n")
	if len(text) > maxOutput {
		text = strings.ToValidUTF8(text[:maxOutput], "") + "…"
	}
	return text
}
