package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"

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
	return terminalWidth.TruncateString(s, width, "…")
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

// money writes a cost, or "" when it is unknown: unknown is never $0.00.
func money(c stream.Cost) string {
	switch {
	case !c.Known:
		return ""
	case c.USD > 0 && c.USD < 0.01:
		return "<$0.01"
	}
	return fmt.Sprintf("$%.2f", c.USD)
}

// took writes how long something took, for a reader: 0.3s, 45s, 2m13s, 1h02m.
func took(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// clock writes how long something has lasted so far; it changes once a second.
func clock(d time.Duration) string {
	if d = d.Truncate(time.Second); d < 10*time.Second {
		return fmt.Sprintf("%ds", int(d.Seconds()))
	}
	return took(d)
}
