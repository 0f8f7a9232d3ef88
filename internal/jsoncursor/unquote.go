package jsoncursor

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// Unquote returns the text that the contents of a JSON string stand for.
// Invalid UTF-8, unpaired surrogates and unknown escapes become U+FFFD.
func Unquote(raw []byte) string {
	if IsPlain(raw) {
		return string(raw)
	}
	text, high := AppendUnquoted(make([]byte, 0, len(raw)), raw, 0)
	if high != 0 {
		text = utf8.AppendRune(text, utf8.RuneError)
	}
	return unsafe.String(unsafe.SliceData(text), len(text)) // nobody else has text
}

// IsPlain says whether the contents of a JSON string stand for themselves.
func IsPlain(raw []byte) bool {
	return bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw)
}

// AppendUnquoted appends what raw stands for to dst, for texts that come in
// several strings. high is the high surrogate with which the string before raw
// ended, 0 for none; the one with which raw ends is returned instead of being
// replaced.
func AppendUnquoted(dst, raw []byte, high rune) ([]byte, rune) {
	if len(raw) == 0 {
		return dst, high
	}
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte(string(utf8.RuneError)))
	}
	if high != 0 {
		r, n := joinSurrogates(high, raw)
		dst, raw = utf8.AppendRune(dst, r), raw[n:]
	}
	for len(raw) > 0 {
		next := nextEscape(raw)
		dst, raw = append(dst, raw[:next]...), raw[next:]
		for len(raw) > 0 && raw[0] == '\\' { // they often come together
			if len(raw) > 1 && escapes[raw[1]] != 0 {
				dst, raw = append(dst, escapes[raw[1]]), raw[2:]
				continue
			}
			r, n := unescape(raw)
			raw = raw[n:]
			if isHighSurrogate(r) {
				if len(raw) == 0 {
					return dst, r
				}
				r, n = joinSurrogates(r, raw)
				raw = raw[n:]
			}
			dst = utf8.AppendRune(dst, r) // a lone low surrogate becomes U+FFFD
		}
	}
	return dst, 0
}

// nextEscape returns how many bytes of raw come before its first escape. Most
// are near: code has short lines.
func nextEscape(raw []byte) int {
	const near = 24
	for i, b := range raw[:min(near, len(raw))] {
		if b == '\\' {
			return i
		}
	}
	if len(raw) > near {
		if i := bytes.IndexByte(raw[near:], '\\'); i >= 0 {
			return near + i
		}
	}
	return len(raw)
}

func isHighSurrogate(r rune) bool { return 0xD800 <= r && r < 0xDC00 }

// joinSurrogates returns the rune of a high surrogate and the low one with which
// raw begins, and the length of that escape; U+FFFD and 0 without a low one.
func joinSurrogates(high rune, raw []byte) (r rune, n int) {
	low, n := unescape(raw)
	if r = utf16.DecodeRune(high, low); r == utf8.RuneError {
		n = 0
	}
	return r, n
}

// unescape reads the escape of n bytes at the start of raw that isn't one of
// escapes. r is a code unit of UTF-16, or U+FFFD for what is unknown.
func unescape(raw []byte) (r rune, n int) {
	const long = len(`\u0000`)
	if len(raw) >= long && raw[0] == '\\' && raw[1] == 'u' {
		if unit, err := strconv.ParseUint(string(raw[2:long]), 16, 16); err == nil {
			return rune(unit), long
		}
	}
	_, size := utf8.DecodeRune(raw[1:])
	return utf8.RuneError, 1 + size
}

// escapes has the bytes that a letter behind a backslash stands for.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}
