package decode

import (
	"io"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// maxJoined is how long the text of joined deltas grows, in bytes.
const maxJoined = 4 << 10

// joined is a delta that may still grow: what was read at once of one message is
// handed on in one piece, since everybody who hears of it pays for each piece.
type joined struct {
	event    stream.Event // the first
	first    stream.Text  // the same; a Thinking has the same fields
	thinking bool
	text     []byte // all of it; empty: there is nothing
}

// add takes e in. It returns false for what can't be joined to the rest, which
// is to be taken first.
func (j *joined) add(e stream.Event) bool {
	delta, isText := e.(stream.Text)
	thought, isThought := e.(stream.Thinking)
	if isThought {
		delta = stream.Text(thought)
	}
	same := isThought == j.thinking && delta.MessageID == j.first.MessageID && delta.ParentToolCallID == j.first.ParentToolCallID
	switch {
	case !isText && !isThought || delta.Delta == "":
		return false
	case len(j.text) == 0:
		j.event, j.first, j.thinking = e, delta, isThought
	case !same || len(j.text)+len(delta.Delta) > maxJoined:
		return false
	}
	j.text = append(j.text, delta.Delta...)
	return true
}

// take returns the event that the deltas come to, nil if there are none.
func (j *joined) take() stream.Event {
	text := j.text
	j.text = j.text[:0]
	switch whole := j.first; {
	case len(text) == 0:
		return nil
	case len(text) == len(whole.Delta):
		return j.event
	case j.thinking:
		whole.Delta = string(text)
		return stream.Thinking(whole)
	default:
		whole.Delta = string(text)
		return whole
	}
}

// beforeRead is a reader that calls a function before it may have to wait.
type beforeRead struct {
	io.Reader
	call func()
}

func (r beforeRead) Read(b []byte) (int, error) {
	r.call()
	return r.Reader.Read(b)
}
