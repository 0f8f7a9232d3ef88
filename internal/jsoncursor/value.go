package jsoncursor

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strconv"
)

// Raw returns the value at the cursor as it stands there, nil if it is broken.
func (c *Cursor) Raw() []byte {
	c.Peek()
	start := c.pos
	c.Skip()
	if c.bad {
		return nil
	}
	return c.data[start:c.pos]
}

// RawText returns the contents of the string at the cursor as they stand there,
// with their escapes; see Unquote. They are nil for a value of another type, but
// not for an empty string.
func (c *Cursor) RawText() []byte {
	if c.Peek() != '"' {
		c.Skip()
		return nil
	}
	return c.quoted()
}

// Text returns the string at the cursor, "" for a value of another type.
func (c *Cursor) Text() string {
	return Unquote(c.RawText())
}

// Bool says whether the value at the cursor is true.
func (c *Cursor) Bool() bool {
	return string(c.Raw()) == "true"
}

// Number returns the number at the cursor; ok is false, and the number 0, for a
// value of another type and a number that is too large.
func (c *Cursor) Number() (f float64, ok bool) {
	f, err := strconv.ParseFloat(string(c.Raw()), 64)
	if err != nil {
		return 0, false
	}
	return f, true
}

// Amount is Number for what can't be negative: a negative number is none.
func (c *Cursor) Amount() (f float64, ok bool) {
	f, ok = c.Number()
	if f < 0 {
		return 0, false
	}
	return f, ok
}

// Count returns the whole number at the cursor, 0 for anything that can't be
// one. Digits behind the point are dropped.
func (c *Cursor) Count() int64 {
	f, _ := c.Amount()
	if f > 1<<53 {
		return 0
	}
	return int64(f)
}

// Int is a field of a struct that is a whole number, 0 for anything that can't be one.
type Int int64

// UnmarshalJSON implements json.Unmarshaler. There is no error.
func (n *Int) UnmarshalJSON(data []byte) error {
	*n = Int(New(data).Count())
	return nil
}

// token goes over the number, true, false or null at the cursor.
func (c *Cursor) token() {
	start := c.pos
	for c.pos < len(c.data) && isTokenByte[c.data[c.pos]] {
		c.pos++
	}
	t := c.data[start:c.pos]
	switch {
	case len(t) == 0:
		c.fail()
	case t[0] == '-', '0' <= t[0] && t[0] <= '9':
	case string(t) != "true" && string(t) != "false" && string(t) != "null":
		c.fail()
	}
}

var isTokenByte = [256]bool{
	'+': true, '-': true, '.': true, 'E': true,
	'0': true, '1': true, '2': true, '3': true, '4': true, '5': true, '6': true, '7': true, '8': true, '9': true,
	'a': true, 'e': true, 'f': true, 'l': true, 'n': true, 'r': true, 's': true, 't': true, 'u': true,
}

// quoted returns the contents of the string that the cursor is at, like RawText.
func (c *Cursor) quoted() []byte {
	start := c.pos + 1
	end := start
	for far := min(start+near, len(c.data)-7); end < far; end += 8 {
		if i := indexQuote(binary.LittleEndian.Uint64(c.data[end:])); i < 8 {
			end += i
			if c.data[end] == '\\' {
				break
			}
			c.pos = end + 1
			return c.data[start:end]
		}
	}
	return c.quotedFar(start, end)
}

// near is up to where looking for the end of a string in words of 8 bytes is
// faster than calling bytes.IndexByte. Most keys are shorter.
const near = 40

// indexQuote returns which of 8 bytes is the first quote or backslash, 8 for none.
func indexQuote(word uint64) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote, slash := word^('"'*ones), word^('\\'*ones)
	return bits.TrailingZeros64(((quote-ones)&^quote|(slash-ones)&^slash)&tops) / 8
}

// quotedFar is quoted for strings that start at start, and don't end before end.
func (c *Cursor) quotedFar(start, end int) []byte {
	for ; ; end++ {
		n := bytes.IndexByte(c.data[end:], '"')
		if n < 0 {
			c.fail()
			return nil
		}
		end += n
		if c.data[end-1] != '\\' || !escaped(c.data[start:end]) {
			c.pos = end + 1
			return c.data[start:end]
		}
	}
}

// escaped says whether the byte behind s is escaped by a backslash.
func escaped(s []byte) bool {
	n := len(s)
	for n > 0 && s[n-1] == '\\' {
		n--
	}
	return (len(s)-n)%2 == 1
}
