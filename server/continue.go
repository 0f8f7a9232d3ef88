package server

import (
	"context"

	"ralph-lsp/loop"
	"ralph-lsp/loop/start"
	"ralph-lsp/wire"
)

// goOn continues the loop that a folder's state file describes, with what the
// options change. trust is the user's word for what the files would run.
func (s *starter) goOn(ctx context.Context, folder string, options start.Options, trust bool) (*managed, error) {
	found, err := start.FoundIn(folder)
	if err != nil {
		return nil, err
	}
	files := s.files(folder)
	var cfg loop.Config
	err = s.withTrust(ctx, trust, func() error {
		settings, err := loadSettings(files)
		if err != nil {
			return err
		}
		resolver := start.Resolver{Start: options, Settings: settings, Detect: s.agents.detect}
		cfg, err = resolver.Continue(ctx, found, files)
		return err
	})
	if err != nil {
		return nil, err
	}
	cfg.Folder, cfg.Version = folder, s.version
	r, err := s.launcher.launch(cfg)
	if err == nil {
		s.warn(cfg)
		start.Remember(files, cfg, r.Status().LoopID)
	}
	return r, err
}

// takeUp continues a loop that nobody drives: the one that the folder's state
// file describes, else ours that ended last.
func (s *starter) takeUp(ctx context.Context, p wire.ResumeParams, patch loop.Patch) (*managed, error) {
	path, _, err := s.loops.elsewhere(ctx, p.LoopParams)
	if err != nil {
		return nil, err
	}
	walls, err := wallsOf(p.Sandbox)
	if err != nil {
		return nil, err
	}
	options := start.Options{Agent: start.Agent{Name: p.Backend}, Limits: patch, Walls: walls}
	change := loop.Config{Change: options.Limits}
	change.Sandbox.Mode = p.Sandbox
	last := s.loops.lastOf(p.LoopParams)
	switch {
	case path != "":
		return s.goOn(ctx, path, options, p.Trust)
	case last == nil, last.Status().StopReason.Ending().Class == loop.ClassOK:
		return nil, loop.ErrNothingToGoOn
	case p.Backend == "":
		return s.launcher.launch(last.again(change))
	}
	settings, err := loadSettings(s.files(last.cfg.Folder))
	if err != nil {
		return nil, err
	}
	cfg, _, err := start.Resolver{Start: options, Settings: settings, Detect: s.agents.detect}.Resolve(ctx)
	if err != nil {
		return nil, err
	}
	change.Backend, change.Args = cfg.Backend, cfg.Args
	return s.launcher.launch(last.again(change))
}
