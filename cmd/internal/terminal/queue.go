package terminal

import (
	"fmt"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

const (
	maxQueued   = 4 << 20 // bytes of events that may wait for a slow terminal
	maxJoined   = 4 << 10 // bytes up to which pieces of text are joined
	eventWeight = 64      // bytes that an event takes besides its text
)

// Queue stands between a loop and a style, so that a slow terminal never makes
// the agent wait. When too much waits, text is dropped first, with a note; what
// tells tools, iterations and ends apart is always kept.
type Queue struct {
	style Style
	deaf  bool // the style has no use for what the agent does
	now   func() time.Time

	mu      sync.Mutex
	items   []queued
	size    int // bytes in items
	dropped int // bytes dropped since the last note
	closed  bool
	wake    chan struct{} // holds one signal
	done    chan struct{} // closed when the style has everything

	at time.Time // when the event being shown happened; of the showing goroutine
}

// queued is one call for the style; one of its fields is set.
type queued struct {
	at    time.Time
	agent stream.Event
	text  []byte // of the agent's Text, when more was joined to it
	own   loop.Event
	note  string
	look  bool // at the loop's status
}

// NewQueue returns a queue for the style that build makes; the style's clock
// is the time at which things happened, however late they are shown.
func NewQueue(build func(clock func() time.Time) Style) *Queue {
	q := &Queue{now: time.Now, wake: make(chan struct{}, 1), done: make(chan struct{})}
	q.style = build(func() time.Time { return q.at })
	_, q.deaf = q.style.(*quietStyle)
	return q
}

// Start begins to show, with the live view of a loop.
func (q *Queue) Start(status func() loop.Status) {
	go func() {
		defer close(q.done)
		defer q.style.Close() // also on a panic: the terminal must be restored
		q.style.Live(status)
		for q.show() {
			<-q.wake
		}
	}()
}

// Close shows what is left and restores the terminal. It gives up on a
// terminal that takes nothing when giveUp is closed.
func (q *Queue) Close(giveUp <-chan struct{}) {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.signal()
	select {
	case <-q.done:
	case <-giveUp:
	}
}

// Handle takes an event of the agent's.
func (q *Queue) Handle(e stream.Event) {
	if q.deaf {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	text, lighter := parts(e)
	if q.size > maxQueued {
		if _, isEnd := e.(stream.MessageEnd); !isEnd { // the text of an end was in its pieces
			left, _ := parts(lighter)
			q.dropped += text - left
		}
		if lighter == nil {
			return
		}
		e = lighter
		text, _ = parts(e)
	}
	if !q.join(e) {
		q.push(queued{agent: e}, eventWeight+text)
	}
}

// HandleLoop takes an event of the loop's.
func (q *Queue) HandleLoop(e loop.Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.push(queued{own: e}, eventWeight)
}

// Note takes a line of this program's own.
func (q *Queue) Note(text string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.push(queued{note: text}, eventWeight+len(text))
}

// looker is a style that looks at the loop's status from time to time.
type looker interface{ Look() }

// Look has the style look at the status, if it does so at all.
func (q *Queue) Look() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n := len(q.items); n == 0 || !q.items[n-1].look {
		q.push(queued{look: true}, eventWeight)
	}
}

func (q *Queue) push(item queued, size int) {
	item.at = q.now()
	q.items = append(q.items, item)
	q.size += size
	q.signal()
}

func (q *Queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default: // it is awake
	}
}

// join adds text to the piece of the same message that waits already.
func (q *Queue) join(e stream.Event) bool {
	text, ok := e.(stream.Text)
	if !ok || len(q.items) == 0 {
		return false
	}
	last := &q.items[len(q.items)-1]
	before, ok := last.agent.(stream.Text)
	if !ok || before.MessageID != text.MessageID || before.ParentToolCallID != text.ParentToolCallID || max(len(before.Delta), len(last.text)) > maxJoined {
		return false
	}
	if last.text == nil {
		last.text = append(last.text, before.Delta...)
	}
	last.text = append(last.text, text.Delta...)
	q.size += len(text.Delta)
	return true
}

// show hands on all that waits; false means that no more will come.
func (q *Queue) show() bool {
	for {
		q.mu.Lock()
		items, dropped, closed := q.items, q.dropped, q.closed
		q.items, q.size, q.dropped = nil, 0, 0
		q.mu.Unlock()
		for _, item := range items {
			if _, last := item.own.(loop.End); last {
				q.tellDropped(dropped)
				dropped = 0
			}
			q.hand(item)
		}
		q.tellDropped(dropped)
		if len(items) == 0 {
			return !closed
		}
	}
}

// tellDropped says how many bytes of text were dropped, if any were.
func (q *Queue) tellDropped(dropped int) {
	if dropped > 0 {
		q.style.HandleLoop(loop.Warning{Message: fmt.Sprintf("the terminal is slow: %d KiB of text weren't shown", dropped/1024+1)})
	}
}

func (q *Queue) hand(item queued) {
	q.at = item.at
	switch {
	case item.text != nil:
		text := item.agent.(stream.Text)
		text.Delta = string(item.text)
		q.style.Handle(text)
	case item.agent != nil:
		q.style.Handle(item.agent)
	case item.own != nil:
		q.style.HandleLoop(item.own)
	case item.look:
		if s, ok := q.style.(looker); ok {
			s.Look()
		}
	default:
		q.style.Note(item.note)
	}
}

// parts are the text of an event in bytes, and the event without what it can do without: nil
// for text alone.
func parts(e stream.Event) (text int, lighter stream.Event) {
	switch e := e.(type) {
	case stream.Text:
		return len(e.Delta), nil
	case stream.Thinking:
		return len(e.Delta), nil
	case stream.ToolProgress:
		return len(e.Output), nil
	case stream.ToolResult:
		text, e.Output = len(e.Output), ""
		return text, e
	case stream.MessageEnd:
		text, e.Text = len(e.Text), ""
		return text, e
	case stream.ToolCall:
		return len(e.Input), e
	}
	return 0, e
}

// looking is how often the loop's status is looked at for a program that holds it.
const looking = 500 * time.Millisecond

// LookOften has what is new of the loop's status written until it is over.
func (q *Queue) LookOften(over <-chan struct{}) {
	ticks := time.NewTicker(looking)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			q.Look()
		case <-over:
			return
		}
	}
}
