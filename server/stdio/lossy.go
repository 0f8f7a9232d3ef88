package stdio

import (
	"bytes"
	"io"
	"sync"
	"time"
)

const (
	lossyQueue    = 1024                  // writes that may wait
	lossyPatience = 50 * time.Millisecond // for the last of them
)

// lossyWriter writes to w from a goroutine of its own. Text that w doesn't take in time is lost: an editor that
// doesn't read our standard error must not stop us.
type lossyWriter struct {
	done chan struct{} // all is written

	mu     sync.Mutex
	queue  chan []byte
	closed bool
}

func newLossyWriter(w io.Writer) *lossyWriter {
	l := &lossyWriter{done: make(chan struct{}), queue: make(chan []byte, lossyQueue)}
	go func() {
		defer close(l.done)
		for p := range l.queue {
			_, _ = w.Write(p) // there is nobody to tell
		}
	}()
	return l
}

// Write never blocks and never fails.
func (l *lossyWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		select {
		case l.queue <- bytes.Clone(p):
		default:
		}
	}
	return len(p), nil
}

// close lets what waits be written, if that is possible soon.
func (l *lossyWriter) close() {
	l.mu.Lock()
	l.closed = true
	close(l.queue)
	l.mu.Unlock()
	select {
	case <-l.done:
	case <-time.After(lossyPatience):
	}
}
