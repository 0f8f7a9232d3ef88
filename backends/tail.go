package backends

import (
	"bytes"
	"sync"
)

// tailSize is how much of an agent's stderr is kept for the error message.
const tailSize = 8 << 10

// tail is a Writer that keeps the last tailSize bytes.
type tail struct {
	mu  sync.Mutex
	buf []byte
	cut bool // something was dropped in front
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - tailSize; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
		t.cut = true
	}
	return len(p), nil
}

// String returns what was kept, from the start of a line where possible.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := t.buf
	if t.cut {
		if i := bytes.IndexByte(kept, '\n'); i >= 0 && i < len(kept)-1 {
			kept = kept[i+1:]
		}
	}
	return string(bytes.ToValidUTF8(kept, []byte("\uFFFD")))
}
