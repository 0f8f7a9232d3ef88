package config

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/lazy"
)

// maxDepth bounds lists in lists, tables in tables, and the parts of a key.
const maxDepth = 16

// span is a range of bytes of the text.
type span struct{ start, end int }

func (s span) contains(offset int) bool { return s.start <= offset && offset <= s.end }

// part is one name of a dotted key, with its quotes.
type part struct {
	name string
	span
}

// entry is a table's header, or a key with its value, as it is written.
type entry struct {
	span            // from the first byte to the last of the value, or of the line's blanks where that is missing
	header bool     // [table]
	nested bool     // in another entry's value
	parts  []part   // at least one
	equals int      // where "=" or a header's "]" is; -1 when it is missing
	value  span     // empty when it is missing
	open   bool     // the value is a list or an inline table that isn't closed
	path   []string // of the table it is in, and parts
}

// scanner finds the places of keys and values. It accepts anything: the decoder complains about text that isn't TOML.
// Of TOML it is exact.
type scanner struct {
	text    string
	pos     int
	table   []string
	entries []entry
	deep    int // where it is nested too deep; -1: nowhere
}

// scan returns the entries in their order, outer before inner ones, and where
// the text is nested deeper than maxDepth, or -1. Behind that there are none.
func scan(text string) (entries []entry, deep int) {
	s := &scanner{text: text, deep: -1}
	for s.take(blanks); s.pos < len(s.text) && s.deep < 0; s.take(blanks) {
		if s.text[s.pos] == '[' {
			s.scanHeader()
		} else {
			s.scanPair(s.table, 0)
		}
		s.take(restOf)
	}
	return s.entries, s.deep
}

func (s *scanner) peek() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return '\n'
}

func (s *scanner) accept(c byte) bool {
	isIt := s.peek() == c
	if isIt {
		s.pos++
	}
	return isIt
}

// The tokens that are read at a time. A text on one line that isn't closed ends with the line, one over several with
// the file, and the latter may itself end with two quotes.
var (
	spaces  = lazy.Regexp(`^[ \t]*`)
	blanks  = lazy.Regexp(`^(?:[ \t\r\n]|#[^\n]*)*`)
	restOf  = lazy.Regexp(`^[^\n]*`) // a line
	quoted  = lazy.Regexp(`^(?s:"""(?:\\.?|[^\\])*?(?:"{3,5}|\z)|'''.*?(?:'{3,5}|\z)|"(?:\\.?|[^"\\\n])*"?|'[^'\n]*'?)`)
	bareKey = lazy.Regexp(`^[^ \t\r\n.=\[\]{},#"']*`)
	atom    = lazy.Regexp(`^[^,\]}#\n]*`)
)

// take moves behind what a pattern matches.
func (s *scanner) take(pattern func() *regexp.Regexp) string {
	text := pattern().FindString(s.text[s.pos:])
	s.pos += len(text)
	return text
}

func (s *scanner) scanHeader() {
	e := entry{span: span{start: s.pos}, header: true, equals: -1}
	s.pos++
	isList := s.accept('[')
	e.parts = s.scanKey()
	if s.accept(']') {
		e.equals = s.pos - 1
		if isList {
			s.accept(']')
		}
	}
	e.end = s.pos
	e.value = span{s.pos, s.pos}
	e.path = names(nil, e.parts)
	s.table = e.path
	s.entries = append(s.entries, e)
}

// scanPair reads a key with its value into entries, before those in the value.
func (s *scanner) scanPair(table []string, depth int) {
	e := entry{span: span{start: s.pos}, nested: depth > 0, equals: -1}
	e.parts = s.scanKey()
	e.path = names(table, e.parts)
	e.end = s.pos
	e.value = span{s.pos, s.pos}
	at := len(s.entries)
	s.entries = append(s.entries, e)
	if s.accept('=') {
		e.equals = s.pos - 1
		s.take(spaces)
		e.value.start = s.pos
		e.open = !s.scanValue(e.path, depth)
		e.value.end = s.pos
		e.end = s.pos
	}
	s.entries[at] = e
}

func names(table []string, parts []part) []string {
	path := append(make([]string, 0, len(table)+len(parts)), table...)
	for _, p := range parts {
		path = append(path, p.name)
	}
	return path
}

// scanKey reads a dotted key and the blanks behind it. Behind a last dot, and
// where there is no key, is a part without a name.
func (s *scanner) scanKey() []part {
	var parts []part
	for {
		s.take(spaces)
		if len(parts) == maxDepth {
			s.deep = s.pos
			return parts
		}
		start := s.pos
		name := s.scanName()
		parts = append(parts, part{name, span{start, s.pos}})
		s.take(spaces)
		if !s.accept('.') {
			return parts
		}
	}
}

func (s *scanner) scanName() string {
	if text := s.take(quoted); text != "" {
		return unquote(text)
	}
	return s.take(bareKey)
}

// unquote returns the text of a string on one line.
func unquote(quoted string) string {
	if text, err := strconv.Unquote(quoted); err == nil && quoted[0] == '"' {
		return text
	}
	if n := len(quoted); n >= 2 && quoted[0] == quoted[n-1] {
		return quoted[1 : n-1]
	}
	return strings.Trim(quoted, `"'`)
}

// scanValue moves behind a value. It says whether brackets are closed.
func (s *scanner) scanValue(path []string, depth int) (closed bool) {
	if depth == maxDepth {
		s.deep = s.pos
		s.pos = len(s.text)
		return true
	}
	switch s.peek() {
	case '"', '\'':
		s.take(quoted)
	case '[':
		return s.scanItems(']', func() bool { return s.atHeader() || pairLine().MatchString(s.text[s.pos:]) },
			func() { s.scanValue(path, depth+1) })
	case '{':
		return s.scanItems('}', s.atHeader, func() { s.scanPair(path, depth+1) })
	default:
		text := s.take(atom)
		s.pos -= len(text) - len(strings.TrimRight(text, " \t\r"))
	}
	return true
}

// A line that can't go on a list or an inline table that was left open.
var (
	headerLine = lazy.Regexp(`^\[\[?[ \t]*([A-Za-z_][A-Za-z0-9_-]*)[ \t.\]]`)
	pairLine   = lazy.Regexp(`^[A-Za-z0-9_.-]+[ \t]*=`)
)

func (s *scanner) atHeader() bool {
	m := headerLine().FindStringSubmatch(s.text[s.pos:])
	if m == nil {
		return false
	}
	switch m[1] {
	case "true", "false", "inf", "nan":
		return false // values
	}
	return true
}

// scanItems reads what stands between brackets, up to the closing one, or to a
// line that begins something else: then the bracket is missing.
func (s *scanner) scanItems(closing byte, beginsOther func() bool, item func()) (closed bool) {
	s.pos++
	for {
		end := s.pos
		if isNewLine := strings.Contains(s.take(blanks), "\n"); isNewLine && beginsOther() {
			s.pos = end
			return false
		}
		switch before := s.pos; {
		case s.pos >= len(s.text):
			return false
		case s.accept(closing):
			return true
		case s.accept(','):
		default:
			if item(); s.pos == before {
				s.pos++
			}
		}
	}
}
