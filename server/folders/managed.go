package folders

import (
	"context"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/loop/engine"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/server/feed"
)

// Managed is a loop of ours with the feed that tells the editor of it.
type Managed struct {
	*engine.Loop
	Feed    *feed.Feed
	Config  setup.Config
	Offered Questions     // that its offers became, to a user without a plugin
	Retired chan struct{} // closed when it is over, out of its folder, and the editor was told
}

// Cancel ends the loop, and returns when the editor was told so: some clients
// lose what they read together with the answer to a command.
func (r *Managed) Cancel() {
	r.Loop.Cancel()
	<-r.Retired
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
