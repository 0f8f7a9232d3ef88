package server

import (
	"ralph-lsp/config"
	"ralph-lsp/loop"
	"ralph-lsp/server/feed"
)

// managed is a loop of ours with the feed that tells the editor of it.
type managed struct {
	*loop.Loop
	feed    *feed.Feed
	cfg     loop.Config
	offered offered       // to a user without a plugin
	retired chan struct{} // closed when it is over, out of its folder, and the editor was told
}

// Cancel ends the loop, and returns when the editor was told so: some clients
// lose what they read together with the answer to a command.
func (r *managed) Cancel() {
	r.Loop.Cancel()
	<-r.retired
}

// again is cfg with what it takes to continue a loop of ours whose file is gone.
func (r *managed) again(cfg loop.Config) loop.Config {
	from := r.Resumable()
	cfg.Folder, cfg.From, cfg.Continue, cfg.Version = r.cfg.Folder, &from, true, r.cfg.Version
	cfg.PromiseFrom = string(config.FromStart) // if it changes
	cfg.History, cfg.Changes = r.cfg.History, r.cfg.Changes
	if cfg.Backend.Command == "" {
		cfg.Backend, cfg.Args = r.cfg.Backend, r.cfg.Args
	}
	return cfg
}
