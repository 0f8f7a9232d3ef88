package decode

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// readEvent reads a line into a struct, for the agents whose lines are few: a
// cursor (internal/jsoncursor) would cost more code than it saves time. A field
// of another type than expected stays as it is, because agents change their
// types. A blank line changes nothing.
func readEvent(line []byte, event any) error {
	line = bytes.Trim(bytes.TrimPrefix(line, []byte("\uFEFF")), " \t\r\n")
	if len(line) == 0 {
		return nil
	}
	wrongType := (*json.UnmarshalTypeError)(nil)
	if err := json.Unmarshal(line, event); err != nil && !errors.As(err, &wrongType) || line[0] != '{' {
		return ErrMalformed
	}
	return nil
}

// tokensOf are tokens by their kinds.
func tokensOf(input, output, cacheRead, cacheWrite jsoncursor.Int) stream.Tokens {
	return stream.Tokens{Input: int64(input), Output: int64(output), CacheRead: int64(cacheRead), CacheWrite: int64(cacheWrite)}
}

// milliseconds is a waiting time, 0 for anything that can't be one.
type milliseconds struct{ jsoncursor.Int }

func (n milliseconds) duration() stream.Duration {
	return stream.Duration(min(int64(n.Int), stream.MaxDelay.Milliseconds())) * stream.Duration(time.Millisecond)
}

// amount is a Cost in dollars.
type amount stream.Cost

func (a *amount) UnmarshalJSON(data []byte) error {
	*a = amount(costAt(jsoncursor.New(data)))
	return nil
}

// costAt is the cost at a cursor.
func costAt(c *jsoncursor.Cursor) stream.Cost {
	usd, ok := c.Amount()
	if !ok {
		return stream.Cost{}
	}
	return stream.CostOf(usd)
}

// errorObject is an error as agents write it: an object or a mere text.
type errorObject struct {
	kind    string // its type or code
	message string
}

func (e *errorObject) UnmarshalJSON(data []byte) error {
	*e = errorObject{}
	c := jsoncursor.New(data)
	if c.Peek() == '"' {
		e.message = c.Text()
		return nil
	}
	kind := func() { e.kind = cmp.Or(c.Text(), e.kind) }
	c.Members("type", kind, "code", kind, "message", &e.message)
	return nil
}

// errorText unwraps an error object that was written as a text.
func errorText(text string) string {
	var e errorObject
	if json.Unmarshal([]byte(text), &e) == nil && e.message != "" {
		return e.message
	}
	return text
}
