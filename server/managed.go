package server

import (
	"github.com/ralph-lsp/ralph-lsp/loop/engine"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/server/feed"
)

// managed is a loop of ours with the feed that tells the editor of it.
type managed struct {
	*engine.Loop
	feed    *feed.Feed
	cfg     setup.Config
	offered offered       // to a user without a plugin
	retired chan struct{} // closed when it is over, out of its folder, and the editor was told
}

// Cancel ends the loop, and returns when the editor was told so: some clients
// lose what they read together with the answer to a command.
func (r *managed) Cancel() {
	r.Loop.Cancel()
	<-r.retired
}
