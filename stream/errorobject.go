package stream

import "ralph-lsp/internal/jsoncursor"

// errorObject is an error as agents write it: an object or a mere text.
type errorObject struct {
	kind    string // its type or code
	message string
}

func readErrorObject(c *jsoncursor.Cursor) (e errorObject) {
	if c.Peek() == '"' {
		return errorObject{message: c.Text()}
	}
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "type", "code":
			if kind := c.Text(); kind != "" {
				e.kind = kind
			}
		case "message":
			e.message = c.Text()
		}
	}
	return e
}

// errorText unwraps an error object that was written as a text.
func errorText(text string) string {
	c := jsoncursor.New([]byte(text))
	if e := readErrorObject(c); c.Done() && e.message != "" {
		return e.message
	}
	return text
}
