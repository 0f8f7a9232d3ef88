package main

import (
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"

	"ralph-lsp/internal/tell"
	"ralph-lsp/stream"
)

// terminalWidth measures strings that may hold colour codes.
var terminalWidth = displaywidth.Options{ControlSequences: true}

// cells is the number of terminal cells that s takes.
func cells(s string) int { return terminalWidth.String(s) }

// fit cuts s to at most width cells, with an ellipsis where it was longer.
func fit(s string, width int) string {
	if width <= 0 {
		return ""
	}
	return terminalWidth.TruncateString(s, width, ellipsis())
}

// plainLine is agent text as one line that is safe to print.
func plainLine(s string) string {
	return strings.Join(strings.Fields(stream.Plain(s)), " ")
}

// firstLines returns the first n lines of s that aren't blank, safe to print,
// and how many more there are.
func firstLines(s string, n int) (lines []string, more int) {
	for line := range strings.Lines(stream.Plain(s)) {
		if line = strings.TrimRight(line, " \t\r\n"); strings.TrimSpace(line) == "" {
			continue
		}
		if len(lines) == n {
			more++
			continue
		}
		lines = append(lines, strings.ReplaceAll(line, "\t", "    "))
	}
	return lines, more
}

// clock writes how long something has lasted so far; it changes once a second.
func clock(d time.Duration) string { return tell.Elapsed(d.Truncate(time.Second)) }
