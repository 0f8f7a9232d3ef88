package main

import (
	"slices"
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

// linesOf are the lines of an agent's text, safe to print, without blank ones around it.
func linesOf(s string) []string {
	var lines []string
	last := 0
	for line := range strings.Lines(stream.Plain(s)) {
		if line = strings.TrimRight(line, " \t\r\n"); line == "" && last == 0 {
			continue
		}
		if lines = append(lines, strings.ReplaceAll(line, "\t", "    ")); line != "" {
			last = len(lines)
		}
	}
	return lines[:last]
}

// excerpt is the beginning and the end of an agent's text in n lines at most, with
// one between them for what is left out.
func excerpt(s string, n int) []string {
	lines := linesOf(s)
	if len(lines) <= n {
		return lines
	}
	first, last := n/2, (n-1)/2
	rest := len(lines) - first - last
	return slices.Concat(lines[:first], []string{tell.LeftOut(rest, 0)}, lines[len(lines)-last:])
}

// clock writes how long something has lasted so far; it changes once a second.
func clock(d time.Duration) string { return tell.Elapsed(d.Truncate(time.Second)) }
