package stream

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// replacement stands for whatever isn't valid Unicode.
const replacement = "\uFFFD"

// unquote returns the text that the contents of a JSON string stand for.
// Invalid UTF-8, unpaired surrogates and unknown escapes become U+FFFD.
func unquote(raw []byte) string {
	if isPlain(raw) {
		return string(raw)
	}
	text, high := appendUnquoted(make([]byte, 0, len(raw)), raw, 0)
	return string(appendLone(text, high))
}

// isPlain says whether raw stands for itself.
func isPlain(raw []byte) bool {
	return bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw)
}

// appendUnquoted appends what raw stands for to dst. high is the high surrogate
// with which the string before raw ended, 0 for none; the one with which raw
// ends is returned instead of being replaced.
func appendUnquoted(dst, raw []byte, high rune) ([]byte, rune) {
	for len(raw) > 0 {
		if n := plainPrefix(raw); n > 0 {
			dst, high = appendLone(dst, high), 0
			dst, raw = appendValid(dst, raw[:n]), raw[n:]
			continue
		}
		var r rune
		r, raw = unescape(raw)
		if pair := utf16.DecodeRune(high, r); pair != utf8.RuneError {
			dst, high = utf8.AppendRune(dst, pair), 0
			continue
		}
		dst, high = appendLone(dst, high), 0
		if isHighSurrogate(r) {
			high = r
		} else {
			dst = utf8.AppendRune(dst, r) // a low surrogate becomes U+FFFD
		}
	}
	return dst, high
}

// plainPrefix returns how many bytes of raw come before its first escape.
func plainPrefix(raw []byte) int {
	if n := bytes.IndexByte(raw, '\\'); n >= 0 {
		return n
	}
	return len(raw)
}

// appendLone appends what stands for a high surrogate without its low half.
func appendLone(dst []byte, high rune) []byte {
	if high == 0 {
		return dst
	}
	return append(dst, replacement...)
}

func isHighSurrogate(r rune) bool { return 0xD800 <= r && r < 0xDC00 }

func appendValid(dst, s []byte) []byte {
	if utf8.Valid(s) {
		return append(dst, s...)
	}
	return append(dst, bytes.ToValidUTF8(s, []byte(replacement))...)
}

// unescape reads the escape at the start of raw, which may be half of a
// surrogate pair.
func unescape(raw []byte) (r rune, rest []byte) {
	if len(raw) < 2 {
		return utf8.RuneError, nil
	}
	if raw[1] == 'u' {
		if len(raw) >= 6 {
			if n, err := strconv.ParseUint(string(raw[2:6]), 16, 16); err == nil {
				return rune(n), raw[6:]
			}
		}
		return utf8.RuneError, raw[2:]
	}
	const letters, meanings = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if i := strings.IndexByte(letters, raw[1]); i >= 0 {
		return rune(meanings[i]), raw[2:]
	}
	return utf8.RuneError, raw[2:]
}

// joiner turns the raw strings of consecutive deltas into text. pi cuts an
// emoji in half between two of them; the first half waits for the second.
type joiner struct {
	high rune
}

func (j *joiner) join(a *arena, raw []byte) string {
	if j.high == 0 && isPlain(raw) {
		return a.string(raw)
	}
	a.scratch, j.high = appendUnquoted(a.scratch[:0], raw, j.high)
	return a.string(a.scratch)
}

// flush returns what stands for a half that has waited in vain.
func (j *joiner) flush() string {
	if j.high == 0 {
		return ""
	}
	j.high = 0
	return replacement
}

// arena makes the strings of a stream's deltas. They are small and many, so
// they share allocations. A string keeps its whole chunk alive, which is why
// chunks are small and long strings get none.
type arena struct {
	chunk   strings.Builder
	scratch []byte
}

const arenaChunk = 4 << 10

func (a *arena) string(s []byte) string {
	if len(s) > arenaChunk/8 {
		return string(s)
	}
	if a.chunk.Cap()-a.chunk.Len() < len(s) {
		a.chunk.Reset()
		a.chunk.Grow(arenaChunk)
	}
	start := a.chunk.Len()
	a.chunk.Write(s)
	return a.chunk.String()[start:]
}
