package stream

import (
	"io"
	"unicode/utf8"
)

// SanitizeWriter sanitizes what it passes on to another writer. Its writers may cut a text anywhere. A write that fails
// returns 0.
type SanitizeWriter struct {
	To     io.Writer
	Passes func(string) string // the text that passes; nil is Plain
	rest   []byte              // the beginning of a character whose end comes with the next write
}

func (w *SanitizeWriter) Write(p []byte) (int, error) {
	if len(w.rest) == 0 && IsPrintableASCII(p) {
		return w.To.Write(p)
	}
	text := append(w.rest, p...)
	whole := len(text) - cutOff(text)
	w.rest = append([]byte(nil), text[whole:]...)
	passes := Sanitize
	if w.Passes != nil {
		passes = w.Passes
	}
	if _, err := io.WriteString(w.To, passes(string(text[:whole]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// IsPrintableASCII says whether p is ASCII, and has no control character but LF and TAB.
func IsPrintableASCII(p []byte) bool {
	for _, c := range p {
		if c < ' ' && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

// cutOff is the number of bytes at the end that only begin a character.
func cutOff(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if c := p[len(p)-n]; utf8.RuneStart(c) {
			if utf8.FullRune(p[len(p)-n:]) {
				return 0
			}
			return n
		}
	}
	return 0
}
