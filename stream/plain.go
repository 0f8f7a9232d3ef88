package stream

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// Plain returns s as it may be shown anywhere: without escape sequences, NUL
// and other control characters than newlines and tabs. Of a line that was
// overwritten by means of CR, as progress bars are, the last state remains.
// Invalid UTF-8 becomes U+FFFD.
func Plain(s string) string {
	if isShowable(s) {
		return s
	}
	// Line by line, so that an escape sequence that never ends hides no more
	// than its line.
	lines := strings.Split(strings.ToValidUTF8(s, replacement), "\n")
	for i, line := range lines {
		lines[i] = plainLine(line)
	}
	return strings.Join(lines, "\n")
}

func isShowable(s string) bool {
	for _, r := range s {
		if r == unicode.ReplacementChar || isControl(r) {
			return false
		}
	}
	return true
}

func plainLine(line string) string {
	line = strings.TrimRight(ansi.Strip(line), "\r")
	line = line[strings.LastIndexByte(line, '\r')+1:]
	return strings.Map(func(r rune) rune {
		if isControl(r) {
			return -1
		}
		return r
	}, line)
}

func isControl(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t'
}
