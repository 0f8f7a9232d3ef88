package server

import (
	"context"
	"encoding/json"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
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
	var cfg setup.Config
	var settings config.Settings
	err = s.withTrust(ctx, p.Trust, func() (err error) {
		if settings, err = service.LoadSettings(s.Files(wanted.Folder)); err == nil && p.Trust && settings.Trust != nil {
			return settings.Trust
		}
		if err == nil {
			cfg, _, err = s.makes().Config(ctx, wanted, settings)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if _, _, err := service.CheckStart(cfg); err != nil {
		return nil, err
	}
	r, err := s.launchAsWanted(ctx, &cfg, wanted.Tree(), p.Replace, settings)
	if err != nil {
		return nil, err
	}
	turns.Of(ctx).End()
	r.Feed.AwaitBegin(ctx)
	st := r.Status()
	return wire.StartResult{LoopID: st.LoopID, State: string(st.State), StateFileURI: wire.FileURI(st.StateFile),
		SessionFileURI: wire.SessionURI(st), Worktree: wire.StatusOf(st, true).Worktree, Warnings: s.warn(cfg)}, nil
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
	return &service.Starter{Service: s.controls.service, Version: s.version, Detect: s.agents.detect,
		OpenText: s.Docs.OpenText, Attended: true}
}

// launchAsWanted starts a loop where the start wants it. Obstacles may be replaced, or the user is asked.
func (s *starter) launchAsWanted(ctx context.Context, cfg *setup.Config, wanted start.Tree, replace bool,
	settings config.Settings) (*folders.Managed, error) {
	if wanted != (start.Tree{}) {
		return s.launchInTree(ctx, cfg, wanted, settings.Worktree)
	}
	if replace {
		if err := s.launcher.clear(ctx, cfg.Folder, ""); err != nil {
			return nil, err
		}
	}
	r, err := s.launcher.launch(*cfg)
	if decide := s.questions.decisionFor(err, *cfg); decide != nil { // a client without a plugin has nobody else to ask
		return decide(ctx)
	}
	return r, err
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
