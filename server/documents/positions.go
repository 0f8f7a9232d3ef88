package documents

import (
	"sort"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"go.lsp.dev/protocol"
)

// textIndex converts between offsets in a text, in bytes, and a client's
// positions. Lines end with LF, CR LF or CR, as the protocol has it.
type textIndex struct {
	text   string
	starts []int // where each line begins
	utf8   bool  // columns are bytes, else UTF-16 units
}

func newTextIndex(text string, utf8 bool) *textIndex {
	starts := []int{0}
	for i := 0; i < len(text); i++ {
		if c := text[i]; c == '\n' || c == '\r' && !strings.HasPrefix(text[i+1:], "\n") {
			starts = append(starts, i+1)
		}
	}
	return &textIndex{text, starts, utf8}
}

// line returns where a line's text begins and ends, without its ending.
func (x *textIndex) line(n int) (start, end int) {
	start, end = x.starts[n], len(x.text)
	if n+1 < len(x.starts) {
		end = x.starts[n+1]
	}
	return start, start + len(strings.TrimRight(x.text[start:end], "\r\n"))
}

// position returns where an offset is. One inside a character or a line's
// ending is taken for where that begins, one outside the text for its end.
func (x *textIndex) position(offset int) protocol.Position {
	offset = max(0, min(offset, len(x.text)))
	n := sort.SearchInts(x.starts, offset+1) - 1
	start, end := x.line(n)
	column := 0
	for at := start; at < min(offset, end); {
		r, size := utf8.DecodeRuneInString(x.text[at:end])
		if at += size; at <= offset {
			column += x.width(r, size)
		}
	}
	return protocol.Position{Line: uint32(n), Character: uint32(column)}
}

// width is how many columns a character takes. A byte that isn't UTF-8 counts
// as the replacement character that a client has in its place.
func (x *textIndex) width(r rune, size int) int {
	if x.utf8 {
		return size
	}
	return utf16.RuneLen(r)
}

// offset returns what a position points to. One behind a line's end, or behind
// the last line, is taken for that end.
func (x *textIndex) offset(p protocol.Position) int {
	if int64(p.Line) >= int64(len(x.starts)) {
		return len(x.text)
	}
	start, end := x.line(int(p.Line))
	column := 0
	for start < end {
		r, size := utf8.DecodeRuneInString(x.text[start:end])
		if column += x.width(r, size); int64(column) > int64(p.Character) {
			break
		}
		start += size
	}
	return start
}

// span returns a range of offsets as one of positions.
func (x *textIndex) span(start, end int) protocol.Range {
	return protocol.Range{Start: x.position(start), End: x.position(end)}
}

// offsets returns a range of positions as one of offsets, in their order.
func (x *textIndex) offsets(r protocol.Range) (start, end int) {
	start, end = x.offset(r.Start), x.offset(r.End)
	return min(start, end), max(start, end)
}
