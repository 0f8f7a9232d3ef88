package server

import (
	"context"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/server/folders"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// goOn continues the loop that is left in a folder, with what the options change; its next run is told what say says.
// trust is the user's word for what the files would run.
func (s *starter) goOn(ctx context.Context, folder string, options start.Options, say string, trust bool) (*folders.Managed, error) {
	var cfg setup.Config
	err := s.withTrust(ctx, trust, func() (err error) {
		cfg, err = s.makes().Continued(ctx, folder, options, say)
		return err
	})
	if err != nil {
		return nil, err
	}
	r, err := s.launcher.launch(cfg)
	if err == nil {
		s.warn(cfg)
	}
	return r, err
}

// takeUp continues a loop that nobody drives.
func (s *starter) takeUp(ctx context.Context, p wire.ResumeParams, patch loop.Patch) (*folders.Managed, error) {
	path, _, err := s.workspace.Other(ctx, p.LoopParams)
	if err != nil {
		return nil, err
	}
	if err := p.Said.Check(); err != nil {
		return nil, err
	}
	if path == "" {
		return nil, loop.ErrNothingToGoOn
	}
	p.Given = patch.Given // what the text says among it
	options := start.Options{Agent: start.Agent{Name: p.Backend}, Said: p.Said, Accept: patch.Accept}
	return s.goOn(ctx, path, options, p.Say, p.Trust)
}
