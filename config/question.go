package config

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

const (
	maxLine  = 300 // characters of a line in a question
	maxLines = 12  // lines of a question
)

// Lines returns the wishes of the file, safe to be shown: programs that a start would run come first, then the
// others. Invisible characters are written as their numbers, and lines beyond the limit are counted.
func (e *UntrustedError) Lines() []string {
	wants := slices.Clone(e.Wants)
	for i, want := range wants {
		wants[i] = readable(want)
	}
	slices.SortStableFunc(wants, func(a, b string) int { return e.rank(a) - e.rank(b) })
	var lines []string
	for i, line := range wants {
		if i == maxLines {
			return append(lines, fmt.Sprintf("… and %d more; read all of it in %s", len(wants)-maxLines, stream.Sanitize(e.File)))
		}
		lines = append(lines, bounded(line, stream.Sanitize(e.File)))
	}
	return lines
}

// maxTold is how many characters are shown of what an agent is told, which runs nothing.
const maxTold = 120

// readable is what an agent is told in one line of plain text. A program's line
// breaks stay to be seen: they may be commands.
func readable(want string) string {
	key, _, _ := strings.Cut(want, " = ")
	if !strings.HasSuffix(key, ".instructions") && !strings.HasSuffix(key, ".description") {
		return want
	}
	want = strings.ReplaceAll(want, `\n`, " ")
	if runes := []rune(want); len(runes) > maxTold {
		want = strings.TrimSpace(string(runes[:maxTold])) + "…\""
	}
	return want
}

// rank puts the chosen agent first, and programs before all else of them.
func (e *UntrustedError) rank(line string) int {
	key, _, _ := strings.Cut(line, " = ")
	rank := 0
	if !strings.HasSuffix(key, ".command") && key != "backend" {
		rank++
	}
	if e.runs == "" || !strings.HasPrefix(key, e.runs) {
		rank += 2
	}
	return rank
}

// bounded is a line with what can be seen of it, cut to maxLine characters.
func bounded(line, file string) string {
	var b strings.Builder
	written, left := 0, 0
	for _, r := range line {
		switch {
		case written >= maxLine:
			left++
			continue
		case stream.IsHidden(r) || r == '\n' || r == '\t' || unicode.In(r, unicode.Join_Control, unicode.Variation_Selector):
			number := fmt.Sprintf(`\u%04X`, r)
			if r > 0xffff {
				number = fmt.Sprintf(`\U%08X`, r)
			}
			b.WriteString(number)
			written += len(number)
			continue
		}
		b.WriteRune(r)
		written++
	}
	if left > 0 {
		fmt.Fprintf(&b, "… (%d more characters; read all of it in %s)", left, file)
	}
	return b.String()
}
