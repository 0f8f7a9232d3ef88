package promises

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// withoutEcho cuts from a text whatever repeats given, which is collapsed, as a
// whole, with any white space between its words: an agent may wrap what it prints.
func withoutEcho(text, given string) string {
	if given == "" || len(given) > len(text) {
		return text
	}
	words, offsets := collapsed(text)
	var own strings.Builder
	kept := 0 // up to where text is dealt with
	for from := 0; ; {
		i := strings.Index(words[from:], given)
		if i < 0 {
			break
		}
		start, end := from+i, from+i+len(given)
		from = end
		if isBoundary(words, start) && isBoundary(words, end) {
			own.WriteString(text[kept:offsets[start]])
			kept = int(offsets[end-1]) + 1
			before := own.String()
			if isOpen(before[max(0, len(before)-maxTail):]) && strings.HasPrefix(strings.TrimLeft(text[kept:], " \t\r"), "\n") {
				own.WriteString("it") // or the sentence before it would go on with the next line
			}
		}
	}
	if kept == 0 {
		return text
	}
	own.WriteString(text[kept:])
	return own.String()
}

// isBoundary says whether words begin or end at an offset.
func isBoundary(words string, at int) bool {
	return at == 0 || at == len(words) || words[at] == ' ' || words[at-1] == ' '
}

// collapsed is collapse with the offset in text of each byte.
func collapsed(text string) (words string, offsets []int32) {
	var b strings.Builder
	b.Grow(len(text))
	offsets = make([]int32, 0, len(text))
	space := false
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if unicode.IsSpace(r) {
			space = true
			i += size
			continue
		}
		if space && b.Len() > 0 {
			b.WriteByte(' ')
			offsets = append(offsets, int32(i-1))
		}
		space = false
		for range size {
			b.WriteByte(text[i])
			offsets = append(offsets, int32(i))
			i++
		}
	}
	return b.String(), offsets
}
