package server

import (
	"context"

	"ralph-lsp/loop"
	"ralph-lsp/loop/start"
)

// goOn continues the loop that a folder's state file describes, with what the
// options change. trust is the user's word for what the files would run.
func (m *manager) goOn(ctx context.Context, folder string, options start.Options, trust bool) (*managed, error) {
	found, err := start.FoundIn(folder)
	if err != nil {
		return nil, err
	}
	files := m.files(folder)
	var cfg loop.Config
	err = m.withTrust(ctx, trust, func() error {
		settings, err := loadSettings(files)
		if err != nil {
			return err
		}
		resolver := start.Resolver{Start: options, Settings: settings, Detect: m.agents.detect}
		cfg, err = resolver.Continue(ctx, found, files)
		return err
	})
	if err != nil {
		return nil, err
	}
	cfg.Folder, cfg.Version = folder, m.version
	r, err := m.launch(cfg)
	if err == nil {
		m.warn(cfg)
		start.Remember(files, cfg, r.Status().LoopID)
	}
	return r, err
}
