package decode

import (
	"slices"

	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// maxDenials is how many denials of a run its Result lists: more than anybody reads.
const maxDenials = 100

// maxTopics is how many topics of a run its Result has.
const maxTopics = 1000

// summary is what the events of a run come to so far. How the stream ended (Lines, Terminal and so
// on) isn't in them.
type summary struct {
	stream.Result
	open []openCall // at most maxOpenCalls
}

// openCall is a call of a tool that has no result yet.
type openCall struct{ id, text string }

// maxOpenCalls is how many of them are told apart.
const maxOpenCalls = 64

// add takes in the next event.
func (r *summary) add(e stream.Event) {
	switch e := e.(type) {
	case stream.MessageEnd:
		if e.ParentToolCallID == "" && e.Text != "" {
			r.message(e.Text)
		}
	case stream.ToolCall:
		if e.Name != stream.StepTool {
			r.ToolCalls++
			r.begin(e)
		}
	case stream.ToolResult:
		r.open = slices.DeleteFunc(r.open, func(c openCall) bool { return c.id == e.ID })
	case stream.Usage:
		r.Usage = e
	case stream.TurnEnd:
		r.Turns++
		r.StopReason = e.StopReason
		if e.Error == "" { // earlier failures were overcome
			r.Failure, r.Rejected = nil, nil
		}
	case stream.Error:
		r.Failure = &e
	case stream.Quota:
		if e.Rejected {
			r.Rejected = &e
		}
	case stream.Denied:
		if len(r.Denials) < maxDenials {
			r.Denials = append(r.Denials, e.Denial)
		}
	}
}

// begin takes note of a call that is open.
func (r *summary) begin(call stream.ToolCall) {
	if len(r.open) == maxOpenCalls {
		r.open = slices.Delete(r.open, 0, 1)
	}
	r.open = append(r.open, openCall{call.ID, stream.Line(call.Name+" "+call.Detail(), 100)})
}

// message makes text the last message.
func (r *summary) message(text string) {
	if promise := promises.In(r.Text); promise != "" {
		r.EarlierPromise = promise
	}
	r.Text = text
	topics, misses := promises.Topics(text)
	for _, t := range topics {
		if len(r.Topics) < maxTopics && !slices.Contains(r.Topics, t) {
			r.Topics = append(r.Topics, t)
		}
	}
	for _, miss := range misses {
		if !slices.ContainsFunc(r.TopicMisses, func(m stream.TopicMiss) bool { return m.Kind == miss.Kind }) {
			r.TopicMisses = append(r.TopicMisses, miss)
		}
	}
}
