package promises

import (
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/lazy"
)

// blocks is what the lines of a text are in, as far as it matters to promises.
type blocks struct {
	lastClose int // where the last comment ends; -1: nowhere
	comment   bool
	item      int    // how far the content of the line's list item is indented; 0: it is in none
	element   string // of HTML; "": none

	fence string // the marks that opened a fenced block; "": none
	depth int    // how far it is indented
}

var (
	// listMarks make a line an item of a list, or of nested ones: bullets, numbers, ticked boxes.
	listMarks = lazy.Regexp(`^(([-*+•–—]|[*_]*(\d{1,9}[.)]|\[[xX]\])[*_]*) [ \t]*)+`)
	// fenceMarks open a fenced block.
	fenceMarks = lazy.Regexp("^(`{3,}|~{3,})")
)

// elements are the HTML elements in which a mention doesn't count.
var elements = map[string]surroundings{"": stands, "details": inDetails, "pre": inCode, "blockquote": inQuote}

// next says what the next line is in. Fences, marks of lists and quotes count as such.
func (b *blocks) next(line string) surroundings {
	if b.comment {
		return stands
	}
	content := strings.TrimLeft(line, " \t")
	depth := len(line) - len(content)
	if b.fence != "" {
		marks := len(content) - len(strings.TrimLeft(content, b.fence[:1]))
		if marks >= len(b.fence) && strings.TrimSpace(content[marks:]) == "" && depth <= b.depth+3 {
			b.fence = ""
		}
		return inCode
	}
	b.passElement(content)
	bare := content[len(listMarks().FindString(content)):]
	switch {
	case len(bare) < len(content):
		b.item = len(line) - len(bare)
	case content != "" && depth < min(b.item, 2):
		b.item = 0
	}
	if marks := fenceMarks().FindString(bare); marks != "" && (marks[0] == '~' || !strings.Contains(bare[len(marks):], "`")) {
		b.fence, b.depth = marks, len(line)-len(bare)
		return inCode
	}
	switch {
	case strings.HasPrefix(bare, ">"):
		return inQuote
	case b.element != "":
		return elements[b.element]
	case b.item > 0:
		return inList
	}
	return stands
}

// passElement takes note of an element that a line begins with, and of where it ends.
func (b *blocks) passElement(line string) {
	if b.element != "" {
		if indexFold(line, "</"+b.element+">") >= 0 {
			b.element = ""
		}
		return
	}
	for name := range elements {
		if name != "" && indexFold(line, "<"+name) == 0 && indexFold(line, "</"+name+">") < 0 &&
			strings.IndexAny(line[1+len(name):]+">", " \t>") == 0 {
			b.element = name
		}
	}
}

// part is one of a line that comments cut.
type part struct {
	text      string
	isComment bool
}

// comments returns the parts of a line that begins at an offset. A comment that is never closed goes on
// to the end if it begins its line, else it is text.
func (b *blocks) comments(line string, at int) (parts []part) {
	begins := true // nothing but white space is before what is read
	for rest := line; rest != ""; {
		mark := "<!--"
		if b.comment {
			mark = "-->"
		}
		text, after, isMarked := strings.Cut(rest, mark)
		begins = begins && strings.TrimSpace(text) == ""
		if isMarked && !b.comment && !begins && at+len(line)-len(after) > b.lastClose {
			text, isMarked = rest[:len(rest)-len(after)], false
		}
		parts = append(parts, part{text, b.comment})
		b.comment = b.comment != isMarked
		rest = after
	}
	return parts
}
