package stream

// Below returns an event as one of a run that works under a tool call of another run: a subagent's. The call's id is
// put before its ids, so that they are unique, and an event without a call above it gets this one. Events about the
// run as a whole stay as they are.
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
