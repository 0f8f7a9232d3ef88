package stream

// errorObject is an error as agents write it: an object or a mere text.
type errorObject struct {
	kind    string // its type or code
	message string
}

func (c *cursor) errorObject() (e errorObject) {
	if c.peek() == '"' {
		return errorObject{message: c.text()}
	}
	for o := c.object(); o.next(); {
		switch string(o.key) {
		case "type", "code":
			if kind := c.text(); kind != "" {
				e.kind = kind
			}
		case "message":
			e.message = c.text()
		}
	}
	return e
}

// errorText unwraps an error object that was written as a text.
func errorText(text string) string {
	c := cursor{data: []byte(text)}
	if e := c.errorObject(); c.done() && e.message != "" {
		return e.message
	}
	return text
}
