package folders

import (
	"context"
	"errors"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/keeper/client"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/server/feed"
)

// Managed is a loop of this machine that this server is a window of, with the feed that tells the editor of it.
type Managed struct {
	loop.Other
	Window   *client.Connection
	Story    *journal.Reader
	Feed     *feed.Feed
	Warnings []string      // that its start has told
	Offered  Questions     // that its offers became, to a user without a plugin
	Retired  chan struct{} // closed when it is over, out of its folder, and the editor was told
}

// ID is the loop's id.
func (r *Managed) ID() string { return r.LoopID }

// Status is how it stands.
func (r *Managed) Status() loop.Status { return r.Window.Status() }

// Owns says whether it is the editor's, which has begun it or has come back to it: else it is a terminal's, say, or
// was detached.
func (r *Managed) Owns() bool { return r.Window.Owns() }

// Cancel ends the loop, and returns when the editor was told so: some clients
// lose what they read together with the answer to a command.
func (r *Managed) Cancel() error {
	if _, err := r.Ask(loop.Request{Do: caller.Cancel}); err != nil && !errors.Is(err, loop.ErrNotRunning) {
		return err
	}
	<-r.Retired
	return nil
}

// Leave ends a loop that is the editor's, such that it can go on, and lets go of another one.
func (r *Managed) Leave() {
	if !r.Owns() || r.Interrupt() != nil {
		r.Window.Close()
	}
}

// Questions are some that the user is asked at once, until they are moot.
type Questions struct {
	mu       sync.Mutex
	withdraw []context.CancelFunc
}

// Ask returns the context of a question, which is over when it is moot.
func (q *Questions) Ask(parent context.Context) context.Context {
	ctx, cancel := context.WithCancel(parent)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.withdraw = append(q.withdraw, cancel)
	return ctx
}

// Withdraw takes back what the user was asked.
func (q *Questions) Withdraw() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, withdraw := range q.withdraw {
		withdraw()
	}
	q.withdraw = nil
}
