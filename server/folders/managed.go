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
	Offered offered       // to a user without a plugin
	Retired chan struct{} // closed when it is over, out of its folder, and the editor was told
}

// Cancel ends the loop, and returns when the editor was told so: some clients
// lose what they read together with the answer to a command.
func (r *Managed) Cancel() {
	r.Loop.Cancel()
	<-r.Retired
}

// offered are the questions that a loop's offers became, until they are moot.
type offered struct {
	mu       sync.Mutex
	withdraw []context.CancelFunc
}

// Question returns the context of a question, which is over when it is moot.
func (o *offered) Question(parent context.Context) context.Context {
	ctx, cancel := context.WithCancel(parent)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.withdraw = append(o.withdraw, cancel)
	return ctx
}

// Moot takes back what the user was asked.
func (o *offered) Moot() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, withdraw := range o.withdraw {
		withdraw()
	}
	o.withdraw = nil
}
