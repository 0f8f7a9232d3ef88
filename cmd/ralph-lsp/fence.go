package main

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"ralph-lsp/stream"
)

// fence stands in front of stdout and stderr. Whoever wrote what is printed, and
// whichever command prints it, nothing passes that isn't plain (stream.Plain) but
// the codes of our own, and those only to a terminal. Who prints a text of
// somebody else's makes it plain as well: it must have none of our codes.
type fence struct {
	to    io.Writer
	codes bool
	ascii bool   // the locale isn't UTF-8: our marks are ASCII
	rest  []byte // the beginning of a character whose end comes with the next write
}

func newFence(to io.Writer) *fence {
	_, terminal := isTerminal(to)
	return &fence{to: to, codes: terminal, ascii: !utf8Locale()}
}

func (f *fence) Write(p []byte) (int, error) {
	if len(f.rest) == 0 && isPlainASCII(p) {
		return f.to.Write(p)
	}
	text := append(f.rest, p...)
	whole := len(text) - cutOff(text)
	f.rest = append([]byte(nil), text[whole:]...)
	passes := f.plain(string(text[:whole]))
	if f.ascii {
		passes = inASCII.Replace(passes)
	}
	if _, err := io.WriteString(f.to, passes); err != nil {
		return 0, err
	}
	return len(p), nil
}

func isPlainASCII(p []byte) bool {
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

// plain is s with what may pass.
func (f *fence) plain(s string) string {
	if !f.codes {
		return stream.Plain(s)
	}
	var out strings.Builder
	begin := 0 // of what isn't written yet
	for at := 0; at < len(s); {
		code := codeAt(s[at:])
		if code == "" {
			at++
			continue
		}
		out.WriteString(stream.Plain(s[begin:at]))
		out.WriteString(code)
		at += len(code)
		begin = at
	}
	out.WriteString(stream.Plain(s[begin:]))
	return out.String()
}

// ownCodes are what the screen needs; of two that begin alike the longer one
// stands first.
var ownCodes = []string{hideCursor, showCursor, clearLive, cutLines, wrapLines + "\r", wrapLines}

// codeAt is the code of ours that s begins with, or "".
func codeAt(s string) string {
	if s[0] != '\r' && s[0] != '\x1b' {
		return ""
	}
	for _, code := range ownCodes {
		if strings.HasPrefix(s, code) {
			return code
		}
	}
	parameters, ok := strings.CutPrefix(s, "\x1b[")
	end := strings.IndexByte(parameters, 'm')
	if !ok || end < 0 || end > len("1;2;3;4;31") {
		return ""
	}
	for code := range strings.SplitSeq(parameters[:end], ";") {
		if !slices.Contains(sgrCodes, code) {
			return ""
		}
	}
	return s[:len("\x1b[")+end+1]
}
