package loopstate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
)

const (
	bom   = "\uFEFF"
	fence = "---"
)

// SyntaxError says what is wrong with a state file, and where.
type SyntaxError struct {
	File string // a path
	Line int    // 1-based
	Msg  string // the mistake and its remedy
}

// Error returns "FILE:LINE: MSG".
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg)
}

// Problem is something in a state file that is ignored, probably against its writer's intention.
type Problem struct {
	Line int    // 1-based
	Key  string // "" when the line has none
	Near string // the known key that may be meant; "" is none
	Msg  string
}

// Document is the text of a state file. A change touches only the keys that it
// changes: byte order mark, line endings, comments, unknown keys and the order
// stay. The zero value is not usable.
type Document struct {
	opening   string // byte order mark and the first fence, with line ending
	blocks    []block
	closing   string // the second fence, with line ending
	separator string // the blank line behind it, when there is one
	eol       string // of lines that are added
	state     State
}

// NewDocument returns a document with what is the user's of a loop: the known keys in their order,
// without those that s doesn't have.
func NewDocument(s State) *Document {
	d := &Document{opening: fence + "\n", closing: fence + "\n", separator: "\n", eol: "\n", state: s.clone()}
	for i := range fields {
		if value := fields[i].text(&s); value != "" && !fields[i].ours {
			d.blocks = append(d.blocks, d.newBlock(fields[i].key, value, ""))
		}
	}
	return d
}

// Whole is the text of a state file with all of a loop, so that another machine can continue it.
func Whole(s State) string {
	d := NewDocument(s)
	d.carry(true)
	return string(d.Bytes())
}

// Parse reads a state file: front matter between two lines of "---", an optional blank line, and
// the prompt, which is everything after it, byte for byte. It accepts any order, unknown keys and
// what shell tools write.
//
// A missing key means: active, iteration 1, no promise, and nothing for the others.
// Errors are of type *SyntaxError with File Name.
func Parse(data []byte) (*Document, error) {
	d, bad := Read(data)
	if len(bad) > 0 {
		return nil, bad[0]
	}
	return d, nil
}

// Read is Parse of as much as can be read, with errors for the rest. The document is nil without a
// front matter.
func Read(data []byte) (*Document, []*SyntaxError) {
	parts, ok := cut(string(data))
	switch {
	case !ok:
		return nil, []*SyntaxError{{Name, 1, "the first line is not \"---\"; a state file starts with \"---\", its keys, " +
			"\"---\", then the prompt"}}
	case parts.closing == "":
		return nil, []*SyntaxError{{Name, 1, "the front matter is not closed; put a line of \"---\" between the keys and the prompt"}}
	}
	d := &Document{opening: parts.opening, closing: parts.closing, eol: "\n", state: defaultState()}
	if strings.HasSuffix(d.opening, "\r\n") {
		d.eol = "\r\n"
	}
	body := parts.body
	if line, after := cutLine(body); line == "\n" || line == "\r\n" {
		d.separator, body = line, after
	}
	d.state.Prompt = body
	d.blocks = splitBlocks(parts.front)
	line, bad := d.readFields()
	if strings.TrimSpace(body) == "" {
		bad = append(bad, &SyntaxError{Name, line + 1, "there is no prompt; write it below the second \"---\""})
	}
	return d, bad
}

// readFields reads the known keys into the state. It returns the line of the
// second fence, and what can't be read.
func (d *Document) readFields() (line int, bad []*SyntaxError) {
	seen := map[string]int{}
	line = 2
	for _, b := range d.blocks {
		if f := fieldOf(b.key); f != nil {
			if first, ok := seen[b.key]; ok {
				bad = append(bad, &SyntaxError{Name, line, fmt.Sprintf("%s is already set in line %d; remove one of them", b.key, first)})
			} else if err := f.parse(&d.state, b); err != nil {
				bad = append(bad, &SyntaxError{Name, line, b.key + " " + err.Error()})
			}
			seen[b.key] = cmp.Or(seen[b.key], line)
		}
		line += b.lines()
	}
	return line, bad
}

// parts are the pieces of a state file's text.
type parts struct {
	opening string // byte order mark and first fence
	front   string // the text between the fences
	closing string // the second fence; "" when there is none
	body    string
}

// cut splits a state file at its fences; ok is false when the first line is none.
func cut(text string) (p parts, ok bool) {
	first, rest := cutLine(text)
	if strings.TrimRight(strings.TrimPrefix(first, bom), " \t\r\n") != fence {
		return parts{}, false
	}
	pos := 0
	for line := range strings.Lines(rest) {
		next := pos + len(line)
		if strings.TrimRight(line, " \t\r\n") == fence {
			return parts{first, rest[:pos], line, rest[next:]}, true
		}
		pos = next
	}
	return parts{opening: first, front: rest}, true
}

// cutLine splits off the first line, with its ending.
func cutLine(s string) (line, rest string) {
	i := strings.IndexByte(s, '\n') + 1
	if i == 0 {
		i = len(s)
	}
	return s[:i], s[i:]
}

// State returns what the document says.
func (d *Document) State() State { return d.state.clone() }

// Set writes the user's part of s into the document. Keys with an unchanged value keep their text.
// Comments inside a list that changes are lost.
func (d *Document) Set(s State) {
	for i := range fields {
		if value := fields[i].text(&s); !fields[i].ours && value != fields[i].text(&d.state) {
			d.put(i, value)
		}
	}
	startsBlank := strings.HasPrefix(s.Prompt, "\n") || strings.HasPrefix(s.Prompt, "\r\n")
	if d.separator == "" && s.Prompt != d.state.Prompt && startsBlank {
		d.separator = d.eol // else the prompt's own blank line would be taken for it
	}
	d.state = s.clone()
}

// says says whether the document has what is the user's of a state, but for how far the loop is.
func (d *Document) says(s State) bool {
	differs := func(f field) bool { return !f.ours && f.key != iterationKey && f.text(&s) != f.text(&d.state) }
	return s.Prompt == d.state.Prompt && !slices.ContainsFunc(fields, differs)
}

// carry puts what is ours into the document too, for who goes on with it elsewhere, or takes it out.
func (d *Document) carry(isCarried bool) {
	for i, f := range fields {
		switch {
		case f.ours && isCarried:
			d.put(i, f.text(&d.state))
		case f.ours && d.index(f.key) >= 0:
			d.put(i, "")
		}
	}
}

// put sets, adds or ("") removes the value of a field.
func (d *Document) put(field int, value string) {
	key := fields[field].key
	at := d.index(key)
	switch {
	case at < 0 && value != "":
		d.blocks = slices.Insert(d.blocks, d.place(field), d.newBlock(key, value, ""))
	case at > 0 && value == "" && opensBlockScalar(d.blocks[at-1].text):
		// Without a key between them, a comment below would be text of the one above.
		d.blocks[at] = d.newBlock(key, "null", "")
	case at >= 0 && value == "":
		d.blocks = slices.Delete(d.blocks, at, at+1)
	case at >= 0:
		d.blocks[at] = d.newBlock(key, value, d.blocks[at].comment())
	}
}

func (d *Document) newBlock(key, value, comment string) block {
	space := " "
	if strings.HasPrefix(value, "\n") {
		space = ""
	}
	return block{key: key, text: key + ":" + space + strings.ReplaceAll(value, "\n", d.eol) + comment + d.eol}
}

// place returns where a field that isn't there belongs: behind the nearest one
// before it in the order of fields, else at the top, but not above a stray line
// that would then continue it.
func (d *Document) place(field int) int {
	for i := field - 1; i >= 0; i-- {
		if at := d.index(fields[i].key); at >= 0 {
			return at + 1
		}
	}
	stray := func(b block) bool { line, _ := cutLine(b.text); return isContinuation(line) }
	return slices.IndexFunc(d.blocks, stray) + 1
}

// index returns where a key's block is, or -1.
func (d *Document) index(key string) int {
	return slices.IndexFunc(d.blocks, func(b block) bool { return b.key == key })
}

// Bytes returns the document's text.
func (d *Document) Bytes() []byte {
	size := len(d.opening) + len(d.closing) + len(d.separator) + len(d.state.Prompt)
	for _, b := range d.blocks {
		size += len(b.text)
	}
	data := append(make([]byte, 0, size), d.opening...)
	for _, b := range d.blocks {
		data = append(data, b.text...)
	}
	data = append(data, d.closing...)
	data = append(data, d.separator...)
	return append(data, d.state.Prompt...)
}

// foreignKeys are other tools' own, which mean nothing here and no harm.
var foreignKeys = map[string]bool{"session_id": true}

// Problems returns what is ignored in the front matter though someone may
// count on it: unknown keys and lines that belong to no key.
func (d *Document) Problems() []Problem {
	var problems []Problem
	line := 2
	for _, b := range d.blocks {
		switch {
		case b.key == "" && !isCommentBlock(b):
			problems = append(problems, Problem{Line: line, Msg: "this line belongs to no key; write \"key: value\""})
		case b.key != "" && fieldOf(b.key) == nil && !foreignKeys[b.key]:
			problems = append(problems, unknownKey(line, b.key))
		}
		line += b.lines()
	}
	return problems
}

func isCommentBlock(b block) bool {
	for line := range strings.Lines(b.text) {
		if !isComment(line) {
			return false
		}
	}
	return true
}

// names returns the names of the user's keys.
func names() (names []string) {
	for _, key := range Keys() {
		names = append(names, key.Name)
	}
	return names
}

// unknownKey says that a key is none, and which one may be meant.
func unknownKey(line int, key string) Problem {
	p := Problem{Line: line, Key: key, Near: format.Nearest(key, names()), Msg: fmt.Sprintf("%s is not a known key, it is ignored", key)}
	if p.Near != "" {
		p.Msg += fmt.Sprintf("; did you mean %s?", p.Near)
	}
	return p
}
