package promises

import (
	"slices"
	"strings"
)

// locate finds out which of the mentions, which are in their order, are in
// code, a quote, a list's item, <details> or an HTML comment; the others keep their place.
func locate(text string, found []mention) {
	m := markup{text: text, lastClose: strings.LastIndex(text, "-->")}
	for at, next := 0, 0; next < len(found); at = lineEnd(text, at) + 1 {
		end := lineEnd(text, at)
		m.beginLine(at, end)
		var spans []span
		if found[next].start <= end {
			spans = spansOf(text[at:end])
		}
		for ; next < len(found) && found[next].start <= end; next++ {
			start := found[next].start
			m.passComments(start)
			isSpan := func(s span) bool { return at+s.start < start && start < at+s.end }
			switch {
			case m.comment:
				found[next].place = inComment
			case m.fence != 0 || m.inside == inCode || slices.ContainsFunc(spans, isSpan):
				found[next].place = inCode
			case m.quote:
				found[next].place = inQuote
			case m.inside != stands:
				found[next].place = m.inside
			case m.item > 0:
				found[next].place = inList
			}
		}
		m.passComments(end)
	}
}

// markup is what the lines of a text are, as far as it matters to promises.
type markup struct {
	text      string
	lastClose int // where the last comment ends; -1: nowhere

	line    int // where the line begins
	at      int // up to where comments are known
	comment bool
	quote   bool         // the line is one of a quote
	item    int          // how far the content of the line's list item is indented; 0: it is in none
	inside  surroundings // an HTML element; stands: none
	element string       // its name

	fence         byte // '`' or '~' inside a fenced block, else 0
	length, depth int  // of the opening fence: its marks, its indentation
}

// elements are those of HTML in which a mention doesn't count.
var elements = map[string]surroundings{"details": inDetails, "pre": inCode, "blockquote": inQuote}

// beginLine looks at the line text[start:end].
func (m *markup) beginLine(start, end int) {
	m.line, m.quote = start, false
	if m.comment {
		return
	}
	line := m.text[start:end]
	content := strings.TrimLeft(line, " \t")
	if m.fence != 0 {
		m.at = end // a comment in a block is code
		marks := fenceLength(content, m.fence)
		if marks >= m.length && strings.TrimSpace(content[marks:]) == "" && len(line)-len(content) <= m.depth+3 {
			m.fence = 0
		}
		return
	}
	m.passElements(content)
	bare := withoutListMarks(content)
	switch {
	case len(bare) < len(content):
		m.item = len(line) - len(bare)
	case content != "" && len(line)-len(content) < min(m.item, 2):
		m.item = 0
	}
	content = bare
	m.quote = strings.HasPrefix(content, ">")
	for _, mark := range []byte("`~") {
		marks := fenceLength(content, mark)
		if marks >= 3 && (mark == '~' || strings.IndexByte(content[marks:], '`') < 0) {
			m.fence, m.length, m.depth = mark, marks, len(line)-len(content)
			m.at = end
		}
	}
}

// passElements takes note of an element that a line begins with, and of where it ends.
func (m *markup) passElements(line string) {
	if m.inside != stands {
		if indexFold(line, "</"+m.element+">") >= 0 {
			m.inside = stands
		}
		return
	}
	for name, at := range elements {
		if len(line) > len(name) && line[0] == '<' && strings.EqualFold(line[1:len(name)+1], name) && indexFold(line, "</"+name+">") < 0 &&
			(len(line) == len(name)+1 || strings.IndexByte(" \t>", line[len(name)+1]) >= 0) {
			m.inside, m.element = at, name
		}
	}
}

// span is a code span in a line.
type span struct{ start, end int }

// spansOf are the code spans of a line: from marks to as many.
func spansOf(line string) (spans []span) {
	next := map[int]int{} // where marks of a length come next; all runs of them, from behind
	type run struct{ at, length, twin int }
	var runs []run
	for end := len(line); ; {
		end = strings.LastIndexByte(line[:end], '`') + 1
		if end == 0 {
			break
		}
		start := len(strings.TrimRight(line[:end], "`"))
		twin, ok := next[end-start]
		if !ok {
			twin = -1
		}
		next[end-start] = start
		runs = append(runs, run{start, end - start, twin})
		end = start
	}
	from := 0
	for _, r := range slices.Backward(runs) {
		if r.at >= from && r.twin >= 0 {
			from = r.twin + r.length
			spans = append(spans, span{r.at, from})
		}
	}
	return spans
}

// withoutListMarks cuts what makes a line an item of a list, or of nested ones.
func withoutListMarks(line string) string {
	for {
		mark, rest, ok := strings.Cut(line, " ")
		if !ok || !strings.Contains("-*+•–—", mark) && !isMark(strings.Trim(mark, "*_")) {
			return line
		}
		line = strings.TrimLeft(rest, " \t")
	}
}

func fenceLength(line string, mark byte) int {
	return len(line) - len(strings.TrimLeft(line, string(mark)))
}

// passComments looks for the marks of comments up to an offset. One that is
// never closed goes on to the end if it begins its line, else it is text.
func (m *markup) passComments(to int) {
	for m.at < to {
		mark := "<!--"
		if m.comment {
			mark = "-->"
		}
		i := strings.Index(m.text[m.at:to], mark)
		if i < 0 {
			m.at = to
			return
		}
		start := m.at + i
		m.at = start + len(mark)
		if m.comment {
			m.comment = false
		} else {
			m.comment = start < m.lastClose || strings.TrimSpace(m.text[m.line:start]) == ""
		}
	}
}
