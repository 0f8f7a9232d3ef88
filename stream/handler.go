package stream

// Handler sees a run's events in order, one at a time. It must not keep the agent waiting: a handler that writes to
// something slow needs a queue.
type Handler interface {
	Handle(Event)
}

// HandlerFunc makes a function a Handler.
type HandlerFunc func(Event)

// Handle calls f.
func (f HandlerFunc) Handle(e Event) { f(e) }
