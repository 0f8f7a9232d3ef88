package tell

import (
	"fmt"
	"unicode/utf8"
)

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
	return fmt.Sprintf("column %d has the byte 0x%02X, which isn't UTF-8 (byte %d of the text); save it as UTF-8", b.Column, b.Byte, b.Offset+1)
}
