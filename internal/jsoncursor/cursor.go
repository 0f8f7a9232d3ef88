// Package jsoncursor reads JSON in place and only as far as it is asked to:
// lines of agents' output and of sessions are many and long, and little of each
// matters.
package jsoncursor

import "bytes"

// maxDepth is how deep JSON may be nested: as deep as for encoding/json.
const maxDepth = 10_000

// Cursor is a place in JSON. Each method that reads takes one value, whatever
// its type, and returns the zero value for one of another type, because other
// programs change the types of their fields.
//
// Broken JSON ends the reading: from then on there is nothing more, and Done is
// false. What is skipped is checked as well, but for the digits of numbers and
// the insides of strings.
type Cursor struct {
	data  []byte
	pos   int
	depth int
	bad   bool
}

// New returns a cursor at the start of data, behind a byte order mark.
func New(data []byte) *Cursor {
	c := Cursor{data: data}
	if bytes.HasPrefix(data, byteOrderMark) {
		c.pos = len(byteOrderMark)
	}
	return &c
}

var byteOrderMark = []byte("\uFEFF")

// At returns a cursor in the middle of data, pos bytes from its start.
func At(data []byte, pos int) *Cursor {
	return &Cursor{data: data, pos: pos}
}

// Pos returns where the cursor is, in bytes from the start of the data. Before
// a member's or element's value is read, that is its first byte.
func (c *Cursor) Pos() int { return c.pos }

// Done says whether nothing but white space is left, and nothing was broken.
func (c *Cursor) Done() bool {
	return !c.bad && c.Peek() == 0 && c.pos == len(c.data)
}

// Broken says whether what was read so far is no JSON.
func (c *Cursor) Broken() bool { return c.bad }

// Peek skips white space and returns the byte behind it, 0 at the end.
func (c *Cursor) Peek() byte {
	for ; c.pos < len(c.data); c.pos++ {
		if b := c.data[c.pos]; b > ' ' || b != ' ' && b != '\n' && b != '\r' && b != '\t' {
			return b
		}
	}
	return 0
}

func (c *Cursor) fail() {
	c.bad = true
	c.pos = len(c.data)
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
	Key   []byte // of the member at the cursor, without escapes
	c     *Cursor
	value int // where the value of Key starts; 0 before the first member
}

// Object enters the object at the cursor. Over any other value the iteration
// has no rounds.
func (c *Cursor) Object() *Object {
	if !c.enter('{') {
		return nil
	}
	return &Object{c: c}
}

// Next goes to the value of the next member, and says whether there is one.
func (o *Object) Next() bool {
	if o == nil || !o.c.nextItem('}', o.value) {
		return false
	}
	c := o.c
	o.Key = c.key()
	if bytes.IndexByte(o.Key, '\\') >= 0 {
		o.Key = []byte(Unquote(o.Key))
	}
	c.Peek()
	o.value = c.pos
	return !c.bad
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
type Array struct {
	c     *Cursor
	value int // where the element starts; 0 before the first one
}

// Array enters the array at the cursor. Over any other value the iteration has
// no rounds.
func (c *Cursor) Array() *Array {
	if !c.enter('[') {
		return nil
	}
	return &Array{c: c}
}

// Next goes to the next element, and says whether there is one.
func (a *Array) Next() bool {
	if a == nil || !a.c.nextItem(']', a.value) {
		return false
	}
	a.c.Peek()
	a.value = a.c.pos
	return true
}

// enter goes behind an opening bracket, or over a value that isn't one.
func (c *Cursor) enter(bracket byte) bool {
	if c.Peek() != bracket {
		c.Skip()
		return false
	}
	c.pos++
	if c.depth++; c.depth > maxDepth {
		c.fail()
	}
	return true
}

// nextItem goes to the next item of an object or array whose last item starts
// at value, and says whether there is one.
func (c *Cursor) nextItem(bracket byte, value int) bool {
	first := value == 0
	if !first && c.pos == value {
		c.Skip()
	}
	b := c.Peek()
	switch {
	case c.bad:
		return false
	case b == bracket:
		c.pos++
		c.depth--
		return false
	case first:
		return true
	case b == ',':
		c.pos++
		return true
	}
	c.fail()
	return false
}

// Skip goes over the value at the cursor.
func (c *Cursor) Skip() {
	switch c.Peek() {
	case '"':
		c.quoted()
	case '{':
		c.skipItems('}')
	case '[':
		c.skipItems(']')
	default:
		c.token()
	}
}

// skipItems goes over the object or array at the cursor that ends with bracket.
// It does what an iteration does, and is faster.
func (c *Cursor) skipItems(bracket byte) {
	c.pos++
	if c.depth++; c.depth > maxDepth {
		c.fail()
	}
	if c.Peek() != bracket {
		for {
			if bracket == '}' {
				c.key()
			}
			c.Skip()
			if c.Peek() != ',' {
				break
			}
			c.pos++
		}
	}
	if c.Peek() != bracket {
		c.fail()
		return
	}
	c.pos++
	c.depth--
}

// key goes over the key of a member and the colon behind it, and returns the key
// with its escapes.
func (c *Cursor) key() []byte {
	if c.Peek() != '"' {
		c.fail()
		return nil
	}
	key := c.quoted()
	if c.Peek() != ':' {
		c.fail()
		return nil
	}
	c.pos++
	return key
}
