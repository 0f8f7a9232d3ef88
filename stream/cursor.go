package stream

import (
	"bytes"
	"strconv"
)

// maxDepth is how deep JSON may be nested.
const maxDepth = 1000

// cursor reads JSON in place and only as far as it is asked to. Each read
// method takes one value, whatever its type, and returns the zero value for
// one of another type, because agents change the types of fields. bad says that
// the JSON is broken; from then on there is nothing more to read.
type cursor struct {
	data  []byte
	pos   int
	depth int
	bad   bool
}

// newCursor returns a cursor at the start of a line, behind a byte order mark.
func newCursor(line []byte) cursor {
	return cursor{data: bytes.TrimPrefix(line, []byte("\uFEFF"))}
}

// done says whether the cursor has read one whole value and nothing follows it.
func (c *cursor) done() bool {
	return !c.bad && c.peek() == 0 && c.pos == len(c.data)
}

// peek skips white space and returns the byte behind it, 0 at the end.
func (c *cursor) peek() byte {
	for ; c.pos < len(c.data); c.pos++ {
		switch b := c.data[c.pos]; b {
		case ' ', '\t', '\r', '\n':
		default:
			return b
		}
	}
	return 0
}

func (c *cursor) fail() {
	c.bad = true
	c.pos = len(c.data)
}

// object is an iteration over the members of a JSON object:
//
//	for o := c.object(); o.next(); {
//		switch string(o.key) {
//		case "id":
//			id = c.text()
//		}
//	}
//
// Values that the body doesn't read are skipped. Keys may come in any order.
type object struct {
	c     *cursor
	key   []byte
	value int // where the value of key starts; 0 before the first member
}

// object enters the object at the cursor. Over any other value the iteration
// has no rounds.
func (c *cursor) object() object {
	if !c.enter('{') {
		return object{}
	}
	return object{c: c}
}

func (o *object) next() bool {
	c := o.c
	if c == nil || !c.nextItem('}', o.value) {
		return false
	}
	o.key = c.quoted()
	if bytes.IndexByte(o.key, '\\') >= 0 {
		o.key = []byte(unquote(o.key))
	}
	if c.peek() != ':' {
		c.fail()
		return false
	}
	c.pos++
	c.peek()
	o.value = c.pos
	return true
}

// array is an iteration over the elements of a JSON array, like object.
type array struct {
	c     *cursor
	value int // where the element starts; 0 before the first one
}

// array enters the array at the cursor. Over any other value the iteration has
// no rounds.
func (c *cursor) array() array {
	if !c.enter('[') {
		return array{}
	}
	return array{c: c}
}

func (a *array) next() bool {
	if a.c == nil || !a.c.nextItem(']', a.value) {
		return false
	}
	a.c.peek()
	a.value = a.c.pos
	return true
}

// enter goes behind an opening bracket, or over a value that isn't one.
func (c *cursor) enter(bracket byte) bool {
	if c.peek() != bracket {
		c.skip()
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
func (c *cursor) nextItem(bracket byte, value int) bool {
	first := value == 0
	if !first && c.pos == value {
		c.skip()
	}
	b := c.peek()
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

// skip goes over the value at the cursor.
func (c *cursor) skip() {
	switch c.peek() {
	case '"':
		c.quoted()
	case '{':
		for o := c.object(); o.next(); {
		}
	case '[':
		for a := c.array(); a.next(); {
		}
	default:
		c.token()
	}
}

// raw returns the bytes of the value at the cursor, which are valid JSON.
func (c *cursor) raw() []byte {
	c.peek()
	start := c.pos
	c.skip()
	if c.bad {
		return nil
	}
	return c.data[start:c.pos]
}

// quoted returns the contents of the string at the cursor as they stand there,
// with their escapes; see unquote. It is an error if there is no string.
func (c *cursor) quoted() []byte {
	if c.peek() != '"' {
		c.fail()
		return nil
	}
	start := c.pos + 1
	end := start
	for near := min(start+nearQuote, len(c.data)); end < near; end++ {
		if b := c.data[end]; b == '"' {
			c.pos = end + 1
			return c.data[start:end]
		} else if b == '\\' {
			break
		}
	}
	return c.quotedFar(start, end)
}

// nearQuote is up to where looking for the end of a string byte by byte is
// faster than calling bytes.IndexByte. Most keys are shorter.
const nearQuote = 16

// quotedFar is quoted for strings that start at start, and don't end before end.
func (c *cursor) quotedFar(start, end int) []byte {
	for ; ; end++ {
		n := bytes.IndexByte(c.data[end:], '"')
		if n < 0 {
			c.fail()
			return nil
		}
		end += n
		if !escaped(c.data[start:end]) {
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

// str returns the contents of the string at the cursor like quoted, or nil if
// the value is of another type. The contents of an empty string aren't nil.
func (c *cursor) str() []byte {
	if c.peek() != '"' {
		c.skip()
		return nil
	}
	return c.quoted()
}

// text returns the string at the cursor, "" if the value is of another type.
func (c *cursor) text() string {
	return unquote(c.str())
}

// boolean returns whether the value at the cursor is true.
func (c *cursor) boolean() bool {
	return string(c.raw()) == "true"
}

// token returns the number, true, false or null at the cursor.
func (c *cursor) token() []byte {
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
	return t
}

var isTokenByte = [256]bool{
	'+': true, '-': true, '.': true, 'E': true,
	'0': true, '1': true, '2': true, '3': true, '4': true, '5': true, '6': true, '7': true, '8': true, '9': true,
	'a': true, 'e': true, 'f': true, 'l': true, 'n': true, 'r': true, 's': true, 't': true, 'u': true,
}

// float returns the number at the cursor; ok is false, and the number 0, for
// another type and for what no amount can be: a negative one.
func (c *cursor) float() (f float64, ok bool) {
	f, err := strconv.ParseFloat(string(c.raw()), 64)
	if err != nil || f < 0 {
		return 0, false
	}
	return f, true
}

// integer returns the count at the cursor, 0 for anything that is none.
func (c *cursor) integer() int64 {
	f, ok := c.float()
	if !ok || f > 1<<53 {
		return 0
	}
	return int64(f)
}
