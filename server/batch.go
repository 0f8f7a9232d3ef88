package server

import (
	"bytes"
	"encoding/json"

	"ralph-lsp/wire"
)

const (
	// maxNotification is how many bytes a notification may have, envelope included.
	maxNotification = 64 << 10
	envelopeSize    = 512 // of a notification without its updates, at most
)

// batch collects updates of one iteration, as JSON, for one notification.
type batch struct {
	iteration int
	buf       bytes.Buffer
	marks     []mark
}

// mark is where an update in a batch ends, and whether it is part of a message.
type mark struct {
	end  int
	text bool
}

// add adds an update unless it belongs into a new batch: this one is full, or
// of another iteration.
func (b *batch) add(u encoded) bool {
	if len(b.marks) > 0 && (u.iteration != b.iteration || b.buf.Len()+len(b.marks)+len(u.json) > maxNotification-envelopeSize) {
		return false
	}
	b.iteration = u.iteration
	b.buf.Write(u.json)
	b.marks = append(b.marks, mark{b.buf.Len(), u.text})
	return true
}

// seal returns the batch's updates, and those that are left when text is left
// out; both share memory of their own. The batch is empty then.
func (b *batch) seal() (all, withoutText []json.RawMessage) {
	data := bytes.Clone(b.buf.Bytes())
	start := 0
	for _, m := range b.marks {
		update := json.RawMessage(data[start:m.end:m.end])
		all = append(all, update)
		if !m.text {
			withoutText = append(withoutText, update)
		}
		start = m.end
	}
	b.buf.Reset()
	b.marks = b.marks[:0]
	return all, withoutText
}

// encoded is an update as JSON, valid until the next is encoded.
type encoded struct {
	json      []byte
	iteration int
	text      bool
}

// encode encodes what waits.
func encode(e *wire.Encoder, p pending) (encoded, error) {
	update, text := p.update, false
	if run := p.text; run != nil {
		update, text = wire.Chunk{SessionUpdate: run.kind, MessageID: run.messageID, ParentToolCallID: run.parent, Content: wire.TextContent{Type: "text", Text: string(run.text)}}, true
	}
	if _, ok := update.(wire.Discard); ok {
		text = true // it takes back what wasn't shown
	}
	line, err := e.Encode(update, p.truncated)
	return encoded{line, p.iteration, text}, err
}
