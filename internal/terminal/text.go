package terminal

import (
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Cells is the number of terminal cells that s takes. It may hold colour codes.
func Cells(s string) int { return ansi.StringWidth(s) }

// Fit cuts s to at most width cells, with an ellipsis where it was longer.
func Fit(s string, width int) string {
	if width <= 0 {
		return ""
	}
	return ansi.Truncate(s, width, ellipsis())
}

// Wrapped breaks a line between its words so that none of the parts is wider than width,
// where a terminal would break it anywhere; the later ones are indented. A word that is
// too wide stays whole: it may be a path that is to be copied. A width of 0 is none.
func Wrapped(s string, width, indent int) string {
	if width <= 0 || Cells(s) <= width {
		return s
	}
	if indent > width/2 {
		indent = 2
	}
	var b strings.Builder
	rest := strings.TrimLeft(s, " ")
	used := len(s) - len(rest)
	b.WriteString(s[:used])
	for i, word := range strings.Split(rest, " ") {
		switch n := Cells(word); {
		case i == 0:
			used += n
		case used+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			used = indent + n
		default:
			b.WriteByte(' ')
			used += 1 + n
		}
		b.WriteString(word)
	}
	return b.String()
}

// Parts are the lines of a text that was one line; each begins in the colour in which the one before it ended.
func Parts(text string) []string {
	parts := strings.Split(text, "\n")
	for i := 1; i < len(parts); i++ {
		at := strings.LastIndex(parts[i-1], "\x1b[")
		if at < 0 {
			continue
		}
		if code, _, ok := strings.Cut(parts[i-1][at+len("\x1b["):], "m"); ok && code != sgrNone {
			parts[i-1] += "\x1b[" + sgrNone + "m"
			parts[i] = "\x1b[" + code + "m" + parts[i]
		}
	}
	return parts
}

// LineWidth is how wide lines may be: the terminal's width, 0 where there is none.
func LineWidth(out io.Writer) int {
	if f, ok := Is(out); ok {
		return WidthOf(f)()
	}
	return 0
}

// Line is agent text as one line that is safe to print.
func Line(s string) string {
	return strings.Join(strings.Fields(stream.Sanitize(s)), " ")
}

// LinesOf are the lines of an agent's text, safe to print, without blank ones around it.
func LinesOf(s string) []string {
	var lines []string
	last := 0
	for line := range strings.Lines(stream.Sanitize(s)) {
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
	lines := LinesOf(s)
	if len(lines) <= n {
		return lines
	}
	first, last := n/2, (n-1)/2
	rest := len(lines) - first - last
	return slices.Concat(lines[:first], []string{format.LeftOut(rest, 0)}, lines[len(lines)-last:])
}
