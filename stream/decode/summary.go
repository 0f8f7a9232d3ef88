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

// Summary folds a run's events into a Result. Its zero value is an empty run.
type Summary struct {
	result stream.Result
}

// Add takes in the next event.
func (s *Summary) Add(e stream.Event) {
	r := &s.result
	switch e := e.(type) {
	case stream.MessageEnd:
		if e.ParentToolCallID == "" && e.Text != "" {
			s.message(e.Text)
		}
	case stream.ToolCall:
		if e.Name != stream.StepTool {
			r.ToolCalls++
		}
	case stream.Usage:
		r.Usage = e
	case stream.TurnEnd:
		r.Turns++
		r.StopReason = e.StopReason
		if e.Error == "" { // whatever failed before was overcome
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

// message makes text the last message.
func (s *Summary) message(text string) {
	if promise := promises.In(s.result.Text); promise != "" {
		s.result.EarlierPromise = promise
	}
	s.result.Text = text
	r := &s.result
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

// Result returns what the events so far come to. How the stream ended (Lines,
// Terminal and so on) isn't in them.
func (s *Summary) Result() stream.Result { return s.result }
