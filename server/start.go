package server

import (
	"context"
	"encoding/json"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/server/folders"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/server/turns"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// starter makes loops of what a user and the files choose.
type starter struct {
	*session.Session
	version   string
	workspace *folders.Workspace
	launcher  *launcher
	agents    *agents
	questions *questions
	controls  *controls
}

// start starts a loop, or tells what that would do.
func (s *starter) start(ctx context.Context, p wire.StartParams) (any, error) {
	wanted, err := s.request(p)
	switch {
	case err != nil:
		return nil, err
	case wanted.Request.Slash != "":
		return s.slash(ctx, wanted.Request.Slash, p)
	case p.DryRun:
		return s.preview(ctx, p)
	}
	prepared, err := s.makes().Prepare(ctx, wanted, s.permits(ctx))
	if err != nil {
		return nil, err
	}
	r, err := s.begin(ctx, &prepared, p.Replace)
	if err != nil {
		return nil, err
	}
	turns.Of(ctx).End()
	r.Feed.AwaitBegin(ctx)
	st := r.Status()
	return wire.StartResult{LoopID: st.LoopID, State: string(st.State), StateFileURI: wire.FileURI(st.StateFile),
		SessionFileURI: wire.FileURI(st.SessionFile), Worktree: wire.StatusOf(st, true).Worktree, Warnings: s.warn(prepared.Config)}, nil
}

// request reads what a start's texts say.
func (s *starter) request(p wire.StartParams) (service.Start, error) {
	folder, err := s.workspace.FolderPath(p.Folder)
	if err != nil {
		return service.Start{}, err
	}
	return s.makes().Request(folder, p)
}

// preview tells what a start would do.
func (s *starter) preview(ctx context.Context, p wire.StartParams) (would answers.DryRunResult, err error) {
	wanted, err := s.request(p)
	if err != nil {
		return would, err
	}
	p.DryRun = false
	argument, err := json.Marshal(p)
	if err != nil {
		return would, err
	}
	return s.makes().Preview(ctx, wanted, argument)
}

// makes makes configurations, with what the editor has open.
func (s *starter) makes() *service.Starter {
	return &service.Starter{Service: s.controls.Service, Version: s.version, Detect: s.agents.detect,
		OpenText: s.Docs.OpenText, Attended: true}
}

// begin begins a loop, where its start wants it. Obstacles may be replaced, or the user is asked.
func (s *starter) begin(ctx context.Context, prepared *service.Prepared, replace bool) (*folders.Managed, error) {
	cfg := prepared.Config
	switch {
	case prepared.InTree():
		return s.beginInTree(ctx, prepared)
	case replace:
		if err := s.launcher.clear(ctx, cfg.Folder, "", wire.WhenNow); err != nil {
			return nil, err
		}
	}
	r, err := s.launcher.launch(cfg)
	if decide := s.questions.decisionFor(err, cfg); decide != nil { // a client without a plugin has nobody else to ask
		return decide(ctx)
	}
	return r, err
}

// takeUp continues a loop that nobody drives.
func (s *starter) takeUp(ctx context.Context, left loop.Status, p wire.ResumeParams) (*folders.Managed, error) {
	cfg, err := s.makes().TakeUp(ctx, left, p, s.permits(ctx))
	if err != nil {
		return nil, err
	}
	r, err := s.launcher.launch(cfg)
	if err == nil {
		s.warn(cfg)
	}
	return r, err
}

// permits asks the user of a client without a plugin about untrusted files, see service.WithTrust. Any other says so with trust.
func (s *starter) permits(ctx context.Context) func(*config.UntrustedError) error {
	return func(err *config.UntrustedError) error {
		if s.User.AsksItself() {
			return err
		}
		if chosen, err := s.User.Permit(ctx, err.Error(), session.AboutTrust, err); chosen != session.ActionTrust {
			return err
		}
		return nil
	}
}

// warn returns what the user should know about a start. A client without a
// plugin shows no answers, so it is told in messages as well.
func (s *starter) warn(cfg setup.Config) []string {
	warnings := make([]string, len(cfg.Warnings))
	for i, warning := range cfg.Warnings {
		warnings[i] = wire.Whole(warning)
		s.User.Inform(session.MessageWarning, "Ralph: "+warnings[i])
	}
	return warnings
}
