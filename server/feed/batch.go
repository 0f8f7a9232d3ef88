package feed

import (
	"bytes"
	"encoding/json"

	"ralph-lsp/looplog"
	"ralph-lsp/wire"
)

const (
	// maxNotification is how many bytes a notification may have, envelope included.
	maxNotification = 64 << 10
	envelopeSize    = 2 << 10 // of a notification without its updates, at most

	// MaxUpdates is how many bytes of updates go into a notification.
	MaxUpdates = maxNotification - envelopeSize
)

// batch collects updates of one iteration, as JSON, for one notification, with
// what their log is to know.
type batch struct {
	iteration int
	updates   int
	buf       bytes.Buffer
	steps     []step
}

// step is an update, which ends at a place in the batch's buffer, or a sign.
type step struct {
	item looplog.Item
	end  int
	sign sign
	size int64
}

// add adds an update unless it belongs into a new batch: this one is full, or
// of another iteration.
func (b *batch) add(u looplog.Item) bool {
	if b.updates > 0 && (u.Iteration != b.iteration || b.buf.Len()+b.updates+len(u.JSON) > MaxUpdates) {
		return false
	}
	b.iteration = u.Iteration
	b.updates++
	b.buf.Write(u.JSON)
	b.steps = append(b.steps, step{item: u, end: b.buf.Len()})
	return true
}

// mark adds a sign.
func (b *batch) mark(s sign, size int64) { b.steps = append(b.steps, step{sign: s, size: size}) }

// seal empties the batch into a log. It returns the batch's updates, and those
// that are left when text is left out; both share memory of their own. whole is
// false if something was dropped before one of them.
func (b *batch) seal(log *looplog.Live) (all, withoutText []json.RawMessage, whole bool) {
	whole = true
	data := bytes.Clone(b.buf.Bytes())
	start := 0
	for _, s := range b.steps {
		switch s.sign {
		case signSettled:
			log.Settle(s.size)
			continue
		case signGap:
			log.Gap()
			whole = false
			continue
		case signLost:
			log.Lose()
			continue
		}
		update := json.RawMessage(data[start:s.end:s.end])
		all = append(all, update)
		if !s.item.Text {
			withoutText = append(withoutText, update)
		}
		start, s.item.JSON = s.end, update
		log.Add(s.item)
	}
	b.buf.Reset()
	clear(b.steps)
	b.steps, b.updates = b.steps[:0], 0
	return all, withoutText, whole
}

// encode encodes what waits; the item is valid until the next is encoded.
func encode(e *wire.Encoder, p pending) (looplog.Item, error) {
	update := p.update
	if run := p.text; run != nil {
		update = wire.Chunk{SessionUpdate: run.kind, MessageID: run.messageID, ParentToolCallID: run.parent, Content: wire.TextContent{Type: "text", Text: string(run.text)}}
	}
	line, err := e.Encode(update, p.truncated)
	return looplog.NewItem(update, line, p.iteration), err
}
