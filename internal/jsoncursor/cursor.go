// Package jsoncursor reads JSON in place and only as far as it is asked to:
// lines of agents' output and of sessions are many and long, and little of each
// matters. jsontext reads the tokens; here is what makes it forgiving.
package jsoncursor

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Cursor is a place in JSON. Each method that reads takes one value, whatever
// its type, and returns the zero value for one of another type, because other
// programs change the types of their fields.
//
// Broken JSON ends the reading: from then on there is nothing more, and Done is
// false. What is skipped is checked as well.
type Cursor struct {
	dec    *jsontext.Decoder
	before int // bytes of the data in front of what dec reads
	size   int // of the data, in bytes
	bad    bool
}

// New returns a cursor at the start of data, behind a byte order mark.
func New(data []byte) *Cursor {
	text := bytes.TrimPrefix(data, []byte("\uFEFF"))
	dec := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return &Cursor{dec: dec, before: len(data) - len(text), size: len(data)}
}

// Pos returns where the cursor is, in bytes from the start of the data: behind
// the key or the value that was read last.
func (c *Cursor) Pos() int {
	if c.bad {
		return c.size
	}
	return c.before + int(c.dec.InputOffset())
}

// Done says whether nothing but white space is left, and nothing was broken.
func (c *Cursor) Done() bool {
	if c.Peek() != 0 || c.bad {
		return false
	}
	_, err := c.dec.ReadToken()
	return errors.Is(err, io.EOF)
}

// Broken says whether what was read so far is no JSON.
func (c *Cursor) Broken() bool { return c.bad }

// Peek returns how what comes next begins: with a quote, a bracket, the letter of
// true, false or null, 0 for any number. It is the zero byte at the end.
func (c *Cursor) Peek() byte {
	if c.bad {
		return 0
	}
	return byte(c.dec.PeekKind())
}

// Object is an iteration over the members of a JSON object:
//
//	for o := c.Object(); o.Next(); {
//		switch string(o.Key) {
//		case "id":
//			id = c.Text()
//		}
//	}
//
// Values that the body doesn't read are skipped; one that it enters must be read
// to its end. Keys may come in any order.
type Object struct {
	Key []byte // of the member at the cursor, without escapes
	items
}

// Object enters the object at the cursor. Over any other value the iteration
// has no rounds.
func (c *Cursor) Object() *Object {
	if !c.enter('{') {
		return nil
	}
	return &Object{items: items{c: c, end: '}'}}
}

// Next goes to the value of the next member, and says whether there is one.
func (o *Object) Next() bool {
	if o == nil || !o.next() {
		return false
	}
	c := o.c
	quoted := c.Raw()
	if c.bad {
		return false
	}
	if o.Key = quoted[1 : len(quoted)-1]; bytes.IndexByte(o.Key, '\\') >= 0 {
		o.Key = []byte(Unquote(quoted))
	}
	o.value = c.Pos()
	return c.isMore()
}

// Members reads those members of the object at the cursor that are named, each into what comes
// behind its name: a *string, *bool, *[]byte (as Raw) or *int64 (as Count), or by a func() that
// reads the value. Over any other value it goes like Object.
func (c *Cursor) Members(namesAndPlaces ...any) {
	for o := c.Object(); o.Next(); {
		for i := 0; i < len(namesAndPlaces); i += 2 {
			if namesAndPlaces[i].(string) != string(o.Key) {
				continue
			}
			switch to := namesAndPlaces[i+1].(type) {
			case *string:
				*to = c.Text()
			case *bool:
				*to = c.Bool()
			case *[]byte:
				*to = c.Raw()
			case *int64:
				*to = c.Count()
			case func():
				to()
			}
			break
		}
	}
}

// Array is an iteration over the elements of a JSON array, like Object.
type Array struct{ items }

// Array enters the array at the cursor. Over any other value the iteration has
// no rounds.
func (c *Cursor) Array() *Array {
	if !c.enter('[') {
		return nil
	}
	return &Array{items{c: c, end: ']'}}
}

// Next goes to the next element, and says whether there is one.
func (a *Array) Next() bool {
	if a == nil || !a.next() {
		return false
	}
	a.value = a.c.Pos()
	return true
}

// enter goes behind an opening bracket, or over a value that isn't one.
func (c *Cursor) enter(bracket byte) bool {
	if c.Peek() != bracket {
		c.Skip()
		return false
	}
	return c.readToken()
}

// items are those of an object or array.
type items struct {
	c     *Cursor
	end   byte // the closing bracket
	value int  // where the last key ended, or the element before; 0 before the first
}

// next goes to the next item, and says whether there is one.
func (it *items) next() bool {
	c := it.c
	if it.value > 0 && c.Pos() == it.value && !c.bad {
		c.Skip()
	}
	if !c.isMore() {
		return false
	}
	if c.Peek() == it.end {
		c.readToken()
		return false
	}
	return true
}

// isMore says whether something comes where something has to.
func (c *Cursor) isMore() bool {
	c.bad = c.Peek() == 0
	return !c.bad
}

func (c *Cursor) readToken() bool {
	_, err := c.dec.ReadToken()
	c.bad = c.bad || err != nil
	return !c.bad
}

// Skip goes over the value at the cursor.
func (c *Cursor) Skip() { c.bad = c.bad || c.dec.SkipValue() != nil }

// Raw returns the value at the cursor as it stands there, nil if it is broken.
func (c *Cursor) Raw() []byte {
	if c.bad {
		return nil
	}
	value, err := c.dec.ReadValue()
	if err != nil {
		c.bad = true
		return nil
	}
	return value
}

// RawText returns the contents of the string at the cursor as they stand there,
// with their escapes. They are nil for a value of another type, but not for an empty
// string.
func (c *Cursor) RawText() []byte {
	if quoted := c.quoted(); quoted != nil {
		return quoted[1 : len(quoted)-1]
	}
	return nil
}

// Text returns the string at the cursor, "" for a value of another type.
func (c *Cursor) Text() string {
	if quoted := c.quoted(); quoted != nil {
		return Unquote(quoted)
	}
	return ""
}

// quoted is the string at the cursor, nil for a value of another type.
func (c *Cursor) quoted() []byte {
	if c.Peek() != '"' {
		c.Skip()
		return nil
	}
	return c.Raw()
}

// Unquote returns the text that a JSON string stands for. Invalid UTF-8 and unpaired
// surrogates become U+FFFD.
func Unquote(quoted []byte) string {
	if contents := quoted[1 : len(quoted)-1]; IsPlain(contents) {
		return string(contents)
	}
	text, _ := jsontext.AppendUnquote(nil, quoted) // the error says that something was replaced
	return string(text)
}

// IsPlain says whether the contents of a JSON string stand for themselves.
func IsPlain(contents []byte) bool {
	return bytes.IndexByte(contents, '\\') < 0 && utf8.Valid(contents)
}

// Bool says whether the value at the cursor is true.
func (c *Cursor) Bool() bool { return string(c.Raw()) == "true" }

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
