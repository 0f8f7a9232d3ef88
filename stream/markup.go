package stream

import "strings"

// locate finds out which of the mentions, which are in their order, are in a
// fenced block, a quote or an HTML comment; the others keep their place. It
// returns where the content of the block begins that the last one is in.
func locate(text string, found []mention) (opened int) {
	m := markup{text: text, lastClose: strings.LastIndex(text, "-->")}
	for at, next := 0, 0; next < len(found); at = lineEnd(text, at) + 1 {
		end := lineEnd(text, at)
		m.beginLine(at, end)
		for ; next < len(found) && found[next].start <= end; next++ {
			m.passComments(found[next].start)
			switch {
			case m.comment:
				found[next].place = inComment
			case m.fence != 0:
				found[next].place = inCode
			case m.quote:
				found[next].place = inQuote
			}
		}
		m.passComments(end)
	}
	return m.opened
}

// markup is what the lines of a text are, as far as it matters to promises.
type markup struct {
	text      string
	lastClose int // where the last comment ends; -1: nowhere

	line    int // where the line begins
	at      int // up to where comments are known
	comment bool
	quote   bool // the line is one of a quote

	fence         byte // '`' or '~' inside a fenced block, else 0
	length, depth int  // of the opening fence: its marks, its indentation
	opened        int  // where the block's content begins
}

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
	content = withoutListMarks(content)
	m.quote = strings.HasPrefix(content, ">")
	for _, mark := range []byte("`~") {
		marks := fenceLength(content, mark)
		if marks >= 3 && (mark == '~' || strings.IndexByte(content[marks:], '`') < 0) {
			m.fence, m.length, m.depth = mark, marks, len(line)-len(content)
			m.opened, m.at = min(end+1, len(m.text)), end
		}
	}
}

// withoutListMarks cuts what makes a line an item of a list, or of nested ones.
func withoutListMarks(line string) string {
	for {
		mark, rest, ok := strings.Cut(line, " ")
		if !ok || !strings.Contains("-*+", mark) && !isMark(mark) {
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
