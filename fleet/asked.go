package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/loop"
)

// Asked answers what is asked over the bus of the loop in a checkout while its iteration runs: it brings the request to
// the loop's process.
type Asked struct {
	Ctx context.Context // of the iteration: done when it is lost or cancelled

	mu   sync.Mutex
	Tree string // "": there is none now
}

// answer is a loop's reply on its way over the bus.
type answer struct {
	loop.Reply
	Bounds string `json:"bounds,omitempty"` // of a loop that was updated: what bounds it now, in a line
}

// Begin has things done with a checkout from now on.
func (a *Asked) Begin(tree string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Tree = tree
}

// End has nothing done with the checkout any more.
func (a *Asked) End() { a.Begin("") }

// Answer carries out a request. Once the loop is another worker's it is silent.
func (a *Asked) Answer(text []byte) []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	if errors.Is(context.Cause(a.Ctx), ErrNotOur) {
		return nil
	}
	var q loop.Request
	iteration, err := 0, json.Unmarshal(text, &q)
	if err == nil {
		iteration, err = a.do(q)
	}
	said := answer{Reply: loop.ReplyOf(iteration, err)}
	if now, errNow := loop.FolderStatus(a.Tree); q.Do == caller.Update && err == nil && errNow == nil {
		said.Bounds = now.Limits.Line(now.Promise)
	}
	data, _ := json.Marshal(said) // texts can always be encoded
	return data
}

func (a *Asked) do(q loop.Request) (iteration int, err error) {
	if a.Tree == "" || a.Ctx.Err() != nil {
		return 0, loop.ErrNotRunning
	}
	switch q.Do { // all else the loop's record is told
	case caller.Answer, caller.Next, caller.Update, loop.DoDisallow:
		return loop.Other{Folder: a.Tree}.Ask(q)
	}
	return 0, fmt.Errorf("this worker doesn't know how to do %s: it may be of an older version", loop.OneLine(q.Do))
}
