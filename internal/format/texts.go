package format

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Excerpt returns the beginning and the end of a text that has more than limit bytes,
// in whole lines, and between them a line that says how much is left out. Only a
// line that is too long alone is cut. lines and bytes are what is left out: bytes are 0 if that is nothing.
func Excerpt(text string, limit int) (excerpt string, lines, bytes int) {
	if len(text) <= limit {
		return text, 0, 0
	}
	room := limit - len(LeftOut(len(text), 0)) - len("\n\n") // for the longest such line
	head, tail := firstBytes(text, room/3), lastBytes(text, room-room/3)
	middle := text[len(head) : len(text)-len(tail)]
	lines, bytes = strings.Count(middle, "\n"), len(middle)
	if !strings.HasSuffix(head, "\n") { // the middle begins with the rest of a line
		head += "\n"
		lines = max(lines-1, 0)
	}
	return head + LeftOut(lines, bytes) + "\n" + tail, lines, bytes
}

// firstBytes are the whole lines in the first n bytes of a text, or as much of its
// first line.
func firstBytes(text string, n int) string {
	if end := strings.LastIndexByte(text[:n], '\n') + 1; end > 0 {
		return text[:end]
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// lastBytes are the whole lines in the last n bytes of a text, or as much of its last
// line.
func lastBytes(text string, n int) string {
	from := len(text) - n
	if begin := strings.IndexByte(text[from-1:], '\n') + from; begin >= from && begin < len(text) {
		return text[begin:]
	}
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	return text[from:]
}

// LeftOut is the line that stands for what is left out: "… 49,871 lines left out …", or
// how many bytes where no whole line is.
func LeftOut(lines, bytes int) string {
	if lines == 0 {
		return leftOutBegin + Amount(bytes, "byte") + leftOutEnd
	}
	return leftOutBegin + Amount(lines, "line") + leftOutEnd
}

const leftOutBegin, leftOutEnd = "… ", " left out …"

// LeftOutIn returns the line of an excerpt that stands for what is left out, "" if it
// has none.
func LeftOutIn(text string) string {
	_, rest, _ := strings.Cut(text, "\n"+leftOutBegin)
	line, _, _ := strings.Cut(rest, "\n")
	if !strings.HasSuffix(line, leftOutEnd) {
		return ""
	}
	return leftOutBegin + line
}

// Lines counts the lines of a text; the last needs no newline.
func Lines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// ShellWord is a text as a shell takes it for one word. One that nobody could read or paste, as with a line
// break in it, is spelled out as bash, zsh and ksh read it: $'a\012b'.
func ShellWord(word string) string {
	if strings.ContainsFunc(word, func(r rune) bool { return !strconv.IsGraphic(r) }) || !utf8.ValidString(word) {
		return spelled(word)
	}
	return Quoted(word)
}

// Quoted is a text as every shell takes it for one word, and as flags in a text are read, with all of its characters.
func Quoted(word string) string {
	if plain := strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-"); plain == "" && word != "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// spelled returns a word with invisible characters written as their bytes, three digits each, so that the next
// character is never read as one more digit.
func spelled(word string) string {
	var b strings.Builder
	b.WriteString("$'")
	for len(word) > 0 {
		r, size := utf8.DecodeRuneInString(word)
		switch char := word[:size]; {
		case char == "'" || char == `\`:
			b.WriteString(`\` + char)
		case strconv.IsGraphic(r) && (r != utf8.RuneError || size > 1):
			b.WriteString(char)
		default:
			for _, c := range []byte(char) {
				fmt.Fprintf(&b, `\%03o`, c)
			}
		}
		word = word[size:]
	}
	return b.String() + "'"
}

// HelpWidth is how wide the help of a command is at most, in cells: help that a terminal wraps can't be read.
const HelpWidth = 90

// BadByte is the first byte of a text that isn't UTF-8, with its place. Line and Column begin
// with 1; a column is a character.
type BadByte struct {
	Line, Column, Offset int
	Byte                 byte
}

// FindBadByte looks for it.
func FindBadByte(text string) (BadByte, bool) {
	if utf8.ValidString(text) {
		return BadByte{}, false
	}
	bad := BadByte{Line: 1, Column: 1}
	for i, r := range text {
		if _, size := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && size == 1 {
			bad.Offset, bad.Byte = i, text[i]
			break
		}
		if bad.Column++; r == '\n' {
			bad.Line, bad.Column = bad.Line+1, 1
		}
	}
	return bad, true
}

// String completes "FILE:LINE: ...".
func (b BadByte) String() string {
	return fmt.Sprintf("column %d has the byte 0x%02X, which isn't UTF-8 (byte %d of the text); save it as UTF-8", b.Column,
		b.Byte, b.Offset+1)
}
