package stream

import "io"

// maxJoined is how long the text of joined deltas grows, in bytes.
const maxJoined = 4 << 10

// joined is a delta that may still grow: what was read at once of one message is
// handed on in one piece, since everybody who hears of it pays for each piece.
type joined struct {
	first Event // a Text or a Thinking; nil: there is nothing
	text  []byte
}

// add takes e in. It returns false for what can't be joined to the rest, which
// is to be taken first.
func (j *joined) add(e Event) bool {
	var delta string
	same := true
	switch e := e.(type) {
	case Text:
		delta = e.Delta
		if j.first != nil {
			first, ok := j.first.(Text)
			same = ok && first.MessageID == e.MessageID && first.ParentToolCallID == e.ParentToolCallID
		}
	case Thinking:
		delta = e.Delta
		if j.first != nil {
			first, ok := j.first.(Thinking)
			same = ok && first.MessageID == e.MessageID && first.ParentToolCallID == e.ParentToolCallID
		}
	default:
		return false
	}
	switch {
	case j.first == nil:
		j.first = e
	case !same || len(j.text)+len(delta) > maxJoined:
		return false
	}
	j.text = append(j.text, delta...)
	return true
}

// take returns the event that the deltas come to, nil if there are none.
func (j *joined) take() Event {
	e := j.first
	switch first := e.(type) {
	case Text:
		if len(j.text) > len(first.Delta) {
			first.Delta = string(j.text)
			e = first
		}
	case Thinking:
		if len(j.text) > len(first.Delta) {
			first.Delta = string(j.text)
			e = first
		}
	}
	j.first, j.text = nil, j.text[:0]
	return e
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
