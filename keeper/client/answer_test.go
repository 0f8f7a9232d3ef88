package client

import (
	"errors"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/loop"
)

// writes is a connection whose keeper does something at each frame.
type writes func()

func (w writes) Read([]byte) (int, error) { return 0, errors.New("nothing is read") }
func (w writes) Write(p []byte) (int, error) {
	w()
	return len(p), nil
}
func (w writes) Close() error { return nil }

// A request may be the last thing that a loop does: it is answered all the same.
func TestAnAnswerBeforeTheEnd(t *testing.T) {
	for range 100 {
		var c *Connection
		c = newConnection(writes(func() {
			c.hear(Frame{Kind: Reply, N: 1, Reply: &loop.Reply{Iteration: 7}})
			close(c.over)
		}), nil)
		if r, err := c.Do(loop.Request{Do: caller.Answer}); r.Iteration != 7 || err != nil {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	var c *Connection
	c = newConnection(writes(func() { close(c.over) }), nil)
	if _, err := c.Do(loop.Request{Do: caller.Answer}); !errors.Is(err, loop.ErrNotRunning) {
		t.Errorf("a loop that is over without an answer: %v", err)
	}
}
