package history

import (
	"bytes"
	"errors"
	"iter"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// scanner reads one line of JSON in place, and only as far as it is asked to.
// Each method that reads takes one value and returns the zero value for one of
// another type: sessions of other programs and versions have other types.
// broken says that the JSON is; from then on there is nothing more to read.
type scanner struct {
	data   []byte
	pos    int
	broken bool
}

// peek returns the next byte that isn't white space, 0 at the end.
func (s *scanner) peek() byte {
	for s.pos < len(s.data) {
		b := s.data[s.pos]
		if b > ' ' {
			return b
		}
		s.pos++
	}
	return 0
}

// fail gives up on the line.
func (s *scanner) fail() { s.broken, s.pos = true, len(s.data) }

// whole says whether exactly one value was read.
func (s *scanner) whole() bool { return s.peek() == 0 && !s.broken }

// members goes over the members of the object at the position. A value that the
// loop's body leaves alone is skipped.
func (s *scanner) members() iter.Seq[[]byte] {
	return func(yield func(key []byte) bool) {
		for range s.items('{', '}') {
			key := s.quoted()
			if s.peek() != ':' {
				s.fail()
				return
			}
			s.pos++
			s.peek()
			before := s.pos
			if !yield(key) {
				return
			}
			if s.pos == before {
				s.skip()
			}
		}
	}
}

// elements goes over the elements of the array at the position, like members.
func (s *scanner) elements() iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		for range s.items('[', ']') {
			s.peek()
			before := s.pos
			if !yield(struct{}{}) {
				return
			}
			if s.pos == before {
				s.skip()
			}
		}
	}
}

// items stops before each item between two brackets. Another value is skipped.
func (s *scanner) items(open, end byte) iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		if s.peek() != open {
			s.skip()
			return
		}
		s.pos++
		if s.peek() == end {
			s.pos++
			return
		}
		for {
			if !yield(struct{}{}) {
				return
			}
			switch s.peek() {
			case ',':
				s.pos++
			case end:
				s.pos++
				return
			default:
				s.fail()
				return
			}
		}
	}
}

// skip goes behind the value at the position. It looks only at quotes and
// brackets: what it skips, nobody reads.
func (s *scanner) skip() {
	switch s.peek() {
	case '"':
		s.quoted()
	case '{', '[':
		s.skipNested()
	default:
		start := s.pos
		for s.pos < len(s.data) && !endsToken[s.data[s.pos]] {
			s.pos++
		}
		if s.pos == start {
			s.fail()
		}
	}
}

var endsToken = [256]bool{
	',': true, '}': true, ']': true, ':': true, '{': true, '[': true, '"': true,
	' ': true, '\t': true, '\r': true, '\n': true,
}

func (s *scanner) skipNested() {
	for depth := 0; s.pos < len(s.data); s.pos++ {
		switch s.data[s.pos] {
		case '"':
			s.quoted()
			s.pos--
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				s.pos++
				return
			}
		}
	}
	s.fail()
}

// raw returns the value at the position as it stands there.
func (s *scanner) raw() []byte {
	s.peek()
	start := s.pos
	s.skip()
	if s.broken {
		return nil
	}
	return s.data[start:s.pos]
}

// quoted returns what is between the quotes of the string at the position,
// escapes and all.
func (s *scanner) quoted() []byte {
	if s.peek() != '"' {
		s.fail()
		return nil
	}
	start := s.pos + 1
	for end := start; ; end++ {
		n := bytes.IndexByte(s.data[end:], '"')
		if n < 0 {
			s.fail()
			return nil
		}
		end += n
		slashes := end
		for slashes > start && s.data[slashes-1] == '\\' {
			slashes--
		}
		if (end-slashes)%2 == 0 {
			s.pos = end + 1
			return s.data[start:end]
		}
	}
}

// text returns the string at the position.
func (s *scanner) text() string {
	if s.peek() != '"' {
		s.skip()
		return ""
	}
	return unquote(s.quoted())
}

// word returns the string at the position, and needs no memory for those that
// most entries have.
func (s *scanner) word() string {
	if s.peek() != '"' {
		s.skip()
		return ""
	}
	quoted := s.quoted()
	if known, ok := words[string(quoted)]; ok {
		return known
	}
	return unquote(quoted)
}

// words are the values of types, roles and reasons.
var words = func() map[string]string {
	known := map[string]string{}
	for _, word := range []string{
		"", "message", "custom", "custom_message", "usage", "model_change", "user", "assistant", "toolResult", "text", "thinking", "toolCall",
		"toolUse", "stop", "unknown", "anthropic", "pi", EventType, InputType, usageKind, eventToolCall, eventThinking, "tool_use", "tool_result",
	} {
		known[word] = word
	}
	return known
}()

func (s *scanner) boolean() bool { return string(s.raw()) == "true" }

// integer returns the number at the position, 0 for one that no integer holds.
func (s *scanner) integer() int64 {
	f := s.float()
	if math.Abs(f) > 1<<53 {
		return 0
	}
	return int64(f)
}

// float returns the number at the position; one that is too large is infinite.
func (s *scanner) float() float64 {
	f, err := strconv.ParseFloat(string(s.raw()), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0
	}
	return f
}

// unquote returns what the inside of a JSON string stands for. What is no valid
// Unicode becomes U+FFFD.
func unquote(quoted []byte) string {
	if !utf8.Valid(quoted) {
		quoted = bytes.ToValidUTF8(quoted, []byte("\uFFFD"))
	}
	next := bytes.IndexByte(quoted, '\\')
	if next < 0 {
		return string(quoted)
	}
	text := make([]byte, 0, len(quoted)) // escapes are never shorter than what they stand for
	for next >= 0 && next < len(quoted)-1 {
		text = append(text, quoted[:next]...)
		quoted = quoted[next:]
		for len(quoted) > 1 && quoted[0] == '\\' { // they often come together
			if plain := escapes[quoted[1]]; plain != 0 {
				text, quoted = append(text, plain), quoted[2:]
				continue
			}
			var n int
			text, n = appendUnicode(text, quoted)
			quoted = quoted[n:]
		}
		next = nextEscape(quoted)
	}
	text = append(text, quoted...)
	return unsafe.String(unsafe.SliceData(text), len(text)) // nobody else has text
}

// nextEscape finds the next backslash. Most are near: code has short lines.
func nextEscape(quoted []byte) int {
	const near = 24
	for i, b := range quoted[:min(near, len(quoted))] {
		if b == '\\' {
			return i
		}
	}
	if len(quoted) <= near {
		return -1
	}
	if i := bytes.IndexByte(quoted[near:], '\\'); i >= 0 {
		return near + i
	}
	return -1
}

// escapes are those of one letter.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// appendUnicode appends what the escape \u.... at the beginning of s stands for,
// and returns how long it is.
func appendUnicode(text, s []byte) ([]byte, int) {
	const unknown, long = len(`\x`), len(`\u0000`)
	r, ok := hexRune(s)
	if !ok {
		return utf8.AppendRune(text, utf8.RuneError), unknown
	}
	if utf16.IsSurrogate(r) {
		if low, ok := hexRune(s[long:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return utf8.AppendRune(text, pair), 2 * long
			}
		}
	}
	return utf8.AppendRune(text, r), long // a lone surrogate becomes U+FFFD
}

// hexRune reads \u and four digits.
func hexRune(s []byte) (rune, bool) {
	if len(s) < len(`\u0000`) || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(s[2:6]), 16, 16)
	return rune(n), err == nil
}
