package inbox

import "github.com/ralph-lsp/ralph-lsp/stream"

// maxEvents is how many events are handled at once. Another message waits for two such batches at most.
const maxEvents = 64

// Reader tells an inbox what an agent says: as much of it as there is without waiting. Only the goroutine that reads
// the agent's output uses it, but for Begin.
type Reader struct {
	inbox  *Inbox
	begun  chan struct{}
	to     stream.Handler
	events []stream.Event
}

// NewReader makes the reader of an agent whose events a handler takes, on the inbox's goroutine. Nothing is told before Begin.
func NewReader(in *Inbox, to stream.Handler) *Reader {
	return &Reader{inbox: in, begun: make(chan struct{}), to: to}
}

// Begin says that the inbox has been told that the agent runs.
func (r *Reader) Begin() { close(r.begun) }

// Handle implements stream.Handler.
func (r *Reader) Handle(e stream.Event) {
	if r.events = append(r.events, e); len(r.events) == maxEvents {
		r.Flush(nil)
	}
}

// Flush tells what was said so far, and has something done behind it; nil: nothing.
func (r *Reader) Flush(then func()) {
	events := r.events
	if r.events = nil; len(events) == 0 && then == nil {
		return
	}
	<-r.begun
	r.inbox.Tell(func() {
		for _, e := range events {
			r.to.Handle(e)
		}
		if then != nil {
			then()
		}
	})
}
