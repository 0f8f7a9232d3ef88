package server

import (
	"cmp"

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

// again is the configuration to continue a loop of ours whose file is gone, with what
// change says: limits, another agent, and whether there are walls.
func (r *managed) again(change loop.Config) loop.Config {
	from, cfg := r.Resumable(), r.cfg
	cfg.From, cfg.Continue, cfg.Change, cfg.Model, cfg.Warnings = &from, true, change.Change, "", nil
	cfg.PromiseFrom = string(config.FromStart) // if it changes
	cfg.Sandbox.Mode = cmp.Or(change.Sandbox.Mode, cfg.Sandbox.Mode)
	if change.Backend.Command != "" {
		cfg.Backend, cfg.Args = change.Backend, change.Args
		cfg.Hat, cfg.Roles, cfg.Steps, cfg.Agents = "", nil, nil, loop.Agents{}
	}
	return cfg
}
