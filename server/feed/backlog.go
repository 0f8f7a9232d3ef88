package feed

import (
	"unicode/utf8"

	"ralph-lsp/wire"
)

const (
	// maxBacklog is how many bytes wait at most, apart from the attic's.
	maxBacklog = 4 << 20
	// minShed is how much there must be to drop before it is looked for: looking
	// takes time, and much that is never dropped may be in the way.
	minShed = maxBacklog / 8
)

// backlog holds the updates of a loop that weren't sent yet, in order. What
// belongs together is merged while it waits: neighbouring text of a message, a
// tool's output so far, usage. When too much waits, text is dropped first, then
// what tools took and gave, then the rest; never a tool's begin or end, an
// iteration, or the loop's end.
type backlog struct {
	queue     []pending
	first     int            // position of queue[0]; positions count from the loop's begin
	outputs   map[string]int // positions of running tools' output so far, by tool call
	usage     int            // position of the last usage, if it still waits
	attic     attic          // what comes before the queue
	fixed     int            // bytes in the queue that are never dropped
	loose     int            // bytes in the queue that may be
	dropped   int            // deltas, outputs, inputs and so on since takeDropped
	iteration int            // of what is added
}

// pending is an update that waits. It is text when text is set, a sign for the
// loop's log when that is set, and nothing when it was merged into a later one.
type pending struct {
	update    wire.Update
	text      *textRun
	sign      sign
	size      int64 // of the session file, for signSettled
	iteration int
	truncated bool // not all of it is there
}

// sign is what the log is to know of a place between updates.
type sign byte

// The signs.
const (
	noSign      sign = iota
	signSettled      // the session file has all before
	signGap          // something was dropped
	signLost         // the session file has nothing of what comes
)

// textRun is neighbouring text of one message.
type textRun struct {
	kind, messageID, parent string
	text                    []byte
	deltas                  int
}

func (p *pending) gone() bool { return p.update == nil && p.text == nil && p.sign == noSign }

// Memory that an update takes besides its text, in bytes, roughly.
const (
	slotWeight = 128 // in the queue, with a small update
	callWeight = 256 // with a ToolCall
)

// weight is what a pending update takes in memory: what is never dropped of it,
// and what may be.
func (p *pending) weight() (fixed, loose int) {
	switch {
	case p.text != nil:
		return 0, slotWeight + cap(p.text.text)
	case p.sign != noSign:
		return slotWeight, 0
	}
	switch u := p.update.(type) {
	case wire.ToolCall:
		for _, l := range u.Locations {
			loose += len(l.Path)
		}
		return callWeight + len(u.ToolCallID) + len(u.Title), loose + len(u.RawInput)
	case wire.ToolCallUpdate:
		for _, c := range u.Content {
			loose += len(c.Content.Text)
		}
		if u.Status == wire.StatusInProgress {
			return 0, slotWeight + loose
		}
		return slotWeight + len(u.ToolCallID), loose
	case wire.Iteration, wire.End:
		return callWeight, 0
	case wire.Topic:
		return 0, slotWeight + len(u.Payload)
	case wire.Verify:
		return 0, slotWeight + len(u.Output)
	case wire.ErrorUpdate:
		return 0, slotWeight + len(u.Message)
	case nil:
		return 0, 0
	}
	return 0, slotWeight
}

// size is roughly how many bytes wait.
func (b *backlog) size() int { return b.queued() + b.attic.size }

// queued is how many of them are in the queue.
func (b *backlog) queued() int { return b.fixed + b.loose }

// addText adds a piece of a message's text or thought.
func (b *backlog) addText(kind, messageID, parent, delta string) {
	for delta != "" {
		run := b.lastText(kind, messageID, parent)
		if run == nil {
			run = &textRun{kind: kind, messageID: messageID, parent: parent}
			b.queue = append(b.queue, pending{text: run, iteration: b.iteration})
			b.loose += slotWeight
		}
		n := wire.FirstText(delta, wire.MaxText-len(run.text))
		before := cap(run.text)
		run.text = append(run.text, delta[:n]...)
		run.deltas++
		b.loose += cap(run.text) - before
		delta = delta[n:]
	}
	b.shed()
}

// lastText returns the text at the end of the queue if more of the message's
// text may be joined to it.
func (b *backlog) lastText(kind, messageID, parent string) *textRun {
	if len(b.queue) == 0 {
		return nil
	}
	last := &b.queue[len(b.queue)-1]
	run := last.text
	if run == nil || len(run.text) > wire.MaxText-utf8.UTFMax ||
		run.messageID != messageID || run.kind != kind || run.parent != parent {
		return nil
	}
	return run
}

// mark adds a sign. One for a place replaces another.
func (b *backlog) mark(s sign, size int64) {
	b.usage = -1 // what comes isn't merged with what is before
	if n := len(b.queue); n > 0 && b.queue[n-1].sign == s {
		b.queue[n-1].size = size
		return
	}
	p := pending{sign: s, size: size, iteration: b.iteration}
	b.queue = append(b.queue, p)
	b.count(&p, +1)
}

// add adds an update that isn't text.
func (b *backlog) add(u wire.Update) {
	u, cut := wire.Limited(u)
	p := pending{update: u, iteration: b.iteration, truncated: cut}
	defer b.shed()
	switch u := u.(type) {
	case wire.ToolCallUpdate:
		at, waits := b.outputs[u.ToolCallID]
		switch {
		case u.Status != wire.StatusInProgress && waits:
			b.replace(&b.queue[at-b.first], pending{})
			delete(b.outputs, u.ToolCallID)
		case u.Status == wire.StatusInProgress && waits:
			b.replace(&b.queue[at-b.first], p)
			return
		case u.Status == wire.StatusInProgress:
			if b.outputs == nil {
				b.outputs = map[string]int{}
			}
			b.outputs[u.ToolCallID] = b.end()
		}
	case wire.UsageUpdate:
		if old := b.waitingUsage(); old != nil {
			b.replace(old, p)
			return
		}
		b.usage = b.end()
	}
	b.queue = append(b.queue, p)
	b.count(&p, +1)
}

// end is the position of what is added next.
func (b *backlog) end() int { return b.first + len(b.queue) }

// waitingUsage returns the iteration's usage that still waits, or nil.
func (b *backlog) waitingUsage() *pending {
	if b.usage < b.first || b.usage >= b.end() {
		return nil
	}
	p := &b.queue[b.usage-b.first]
	if _, ok := p.update.(wire.UsageUpdate); !ok || p.iteration != b.iteration {
		return nil
	}
	return p
}

// count adds the update's weight, or takes it away.
func (b *backlog) count(p *pending, sign int) {
	fixed, loose := p.weight()
	b.fixed += sign * fixed
	b.loose += sign * loose
}

// replace puts another update, or nothing, into a place of the queue.
func (b *backlog) replace(place *pending, with pending) {
	b.count(place, -1)
	b.count(&with, +1)
	*place = with
}

// take removes the oldest updates, about limit bytes of them or all that wait
// in one place, and appends them to into.
func (b *backlog) take(limit int, into []pending) []pending {
	if len(b.attic.blocks) > 0 {
		return b.attic.take(into)
	}
	n, size := 0, 0
	for n < len(b.queue) && size < limit {
		p := &b.queue[n]
		fixed, loose := p.weight()
		size += fixed + loose
		if u, ok := p.update.(wire.ToolCallUpdate); ok && u.Status == wire.StatusInProgress {
			delete(b.outputs, u.ToolCallID)
		}
		if !p.gone() {
			into = append(into, *p)
		}
		b.replace(p, pending{})
		n++
	}
	b.first += n
	b.queue = b.queue[n:]
	if len(b.queue) == 0 {
		b.queue = nil // a backlog that was long must not keep its memory
	}
	return into
}

// takeDropped returns how much was dropped since it was called last.
func (b *backlog) takeDropped() int {
	dropped := b.dropped
	b.dropped = 0
	return dropped
}

// The order in which things are dropped.
var sheddable = []func(*pending) (lighter pending, dropped int){
	withoutText, withoutContent, withoutRest,
}

// shed drops the oldest of what may be dropped when too much waits, with some
// room to spare, so that it need not be done for each event.
func (b *backlog) shed() {
	if b.queued() <= maxBacklog || b.loose < minShed {
		return
	}
	for _, lighten := range sheddable {
		for i := range b.queue[:len(b.queue)-1] { // the newest is what the user wants to see
			if b.queued() <= maxBacklog*3/4 {
				break
			}
			p := &b.queue[i]
			lighter, dropped := lighten(p)
			if dropped > 0 {
				b.dropped += dropped
				if lighter.gone() {
					lighter = pending{sign: signGap, iteration: p.iteration}
				}
				b.replace(p, lighter)
			}
		}
	}
	b.compact()
	if b.queued() > maxBacklog*3/4 { // with nothing left to drop
		b.stow()
	}
}

// stow moves all but the newest to the attic.
func (b *backlog) stow() {
	n := len(b.queue) - 1
	b.attic.stow(b.queue[:n])
	var kept []pending
	for i := range b.queue[:n] {
		if p := &b.queue[i]; p.sign == signLost {
			kept = append(kept, *p)
		} else {
			b.count(p, -1)
		}
	}
	b.first += n - len(kept)
	b.queue = append(kept, b.queue[n])
}

// compact closes the gaps in the queue.
func (b *backlog) compact() {
	kept := make([]pending, 0, len(b.queue))
	clear(b.outputs)
	for _, p := range b.queue {
		switch u := p.update.(type) {
		case wire.ToolCallUpdate:
			if u.Status == wire.StatusInProgress {
				b.outputs[u.ToolCallID] = b.first + len(kept)
			}
		case wire.UsageUpdate:
			b.usage = b.first + len(kept)
		}
		if n := len(kept); p.sign != noSign && n > 0 && kept[n-1].sign == p.sign {
			b.count(&kept[n-1], -1)
			kept[n-1] = p
			continue
		}
		if !p.gone() {
			kept = append(kept, p)
		}
	}
	b.queue = kept
}

func withoutText(p *pending) (pending, int) {
	if p.text == nil {
		return *p, 0
	}
	return pending{}, p.text.deltas
}

func withoutContent(p *pending) (pending, int) {
	switch u := p.update.(type) {
	case wire.ToolCall:
		if u.RawInput != nil || u.Locations != nil {
			u.RawInput, u.Locations = nil, nil
			return pending{update: u, iteration: p.iteration, truncated: true}, 1
		}
	case wire.ToolCallUpdate:
		if u.Status == wire.StatusInProgress {
			return pending{}, 1
		}
		if u.Content != nil {
			u.Content, u.Omitted = nil, nil
			return pending{update: u, iteration: p.iteration, truncated: true}, 1
		}
	}
	return *p, 0
}

func withoutRest(p *pending) (pending, int) {
	if p.gone() || p.sign != noSign {
		return *p, 0
	}
	switch p.update.(type) {
	case wire.ToolCall, wire.ToolCallUpdate, wire.Iteration, wire.End:
		return *p, 0
	}
	return pending{}, 1
}
