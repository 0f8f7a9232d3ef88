package stream

import "encoding/json"

// Calls is a handler with one method for each of the five things that a simple
// consumer wants to know.
type Calls interface {
	OnText(text string)
	OnToolCall(name, id string, input json.RawMessage)
	OnToolResult(id, output string)
	OnError(message string) // of the run, and the output of a failed tool
	OnComplete(Result)
}

// FromCalls makes a Handler of c. Thinking is text when verbose is set, and
// isn't passed on otherwise.
func FromCalls(c Calls, verbose bool) Handler {
	return HandlerFunc(func(e Event) {
		switch e := e.(type) {
		case Text:
			c.OnText(e.Delta)
		case Thinking:
			if verbose {
				c.OnText(e.Delta)
			}
		case ToolCall:
			c.OnToolCall(e.Name, e.ID, e.Input)
		case ToolResult:
			if e.IsError {
				c.OnError(e.Output)
			} else {
				c.OnToolResult(e.ID, e.Output)
			}
		case Error:
			c.OnError(e.Message)
		case Complete:
			c.OnComplete(e.Result)
		}
	})
}
