package stream

// Below is an event of a run that works under a tool call of another one: a subagent's.
// Its ids have the call's before them, so that they are nobody else's, and what has no
// call above it has this one. What is about that run as a whole stays as it is.
func Below(e Event, call string) Event {
	own := func(id string) string {
		if id == "" {
			return ""
		}
		return call + "/" + id
	}
	parent := func(id string) string {
		if id == "" {
			return call
		}
		return own(id)
	}
	switch e := e.(type) {
	case Text:
		e.MessageID, e.ParentToolCallID = own(e.MessageID), parent(e.ParentToolCallID)
		return e
	case Thinking:
		e.MessageID, e.ParentToolCallID = own(e.MessageID), parent(e.ParentToolCallID)
		return e
	case MessageEnd:
		e.MessageID, e.ParentToolCallID = own(e.MessageID), parent(e.ParentToolCallID)
		return e
	case ToolCall:
		e.ID, e.ParentToolCallID = own(e.ID), parent(e.ParentToolCallID)
		return e
	case ToolProgress:
		e.ID = own(e.ID)
		return e
	case ToolResult:
		e.ID, e.ParentToolCallID = own(e.ID), parent(e.ParentToolCallID)
		return e
	case Denied:
		e.ID = own(e.ID)
		return e
	}
	return e
}
