package server

import (
	"context"
	"errors"
	"io/fs"

	"ralph-lsp/loop"
	"ralph-lsp/loop/start"
	"ralph-lsp/loopstate"
)

// goOn continues the loop that a folder's state file describes, with what the
// options change. trust is the user's word for what the files would run.
func (m *manager) goOn(ctx context.Context, folder string, options start.Options, trust bool) (*managed, error) {
	found, err := foundIn(folder)
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
		resolver := start.Resolver{Start: options, Settings: settings, Detect: m.detect}
		cfg, err = resolver.Continue(ctx, found, files)
		return err
	})
	if err != nil {
		return nil, err
	}
	cfg.Folder, cfg.Version = folder, m.version
	if last := m.known(found.LoopID); last != nil && options.Agent.Name == "" {
		cfg.Backend = last.cfg.Backend // how its output is read isn't in the file
	}
	r, err := m.launch(cfg)
	if err == nil {
		start.Remember(files, cfg)
	}
	return r, err
}

// foundIn is what a folder's state file says of its loop's agent.
func foundIn(folder string) (start.Found, error) {
	file, err := loopstate.Open(folder)
	if err != nil {
		return start.Found{}, err
	}
	state, err := file.Load()
	if errors.Is(err, fs.ErrNotExist) {
		return start.Found{}, loop.ErrNothingToGoOn
	}
	return start.Found{File: file.Path(), LoopID: state.LoopID, Backend: state.Backend, Hat: state.Hat, Args: state.BackendArgs}, err
}
