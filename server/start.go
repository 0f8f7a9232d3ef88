package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/server/folders"
	"github.com/ralph-lsp/ralph-lsp/server/refusal"
	"github.com/ralph-lsp/ralph-lsp/server/rpc"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/server/turns"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
	"github.com/ralph-lsp/ralph-lsp/wire"
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

// patchOf returns what parameters change, and refuses what no loop can have.
func patchOf(p wire.LimitParams) (loop.Patch, error) {
	patch, err := p.Patch()
	if err == nil && patch.Promise != nil {
		err = checkPromise(*patch.Promise)
	}
	return patch, err
}

func checkPromise(promise string) error {
	if why := promises.CheckPromise(promise); why != "" {
		return refusal.Invalid("completionPromise", "the completion promise %s", why)
	}
	return nil
}

// optionsOf returns what a start, or the editor's settings, choose.
func optionsOf(c wire.Choices) (start.Options, error) {
	patch, err := patchOf(c.LimitParams)
	return start.Options{Agent: start.Agent{Name: c.Backend, Hat: c.Hat, Model: c.Model, Args: c.Args}, Limits: patch}, err
}

// start starts a loop, or tells what that would do.
func (s *starter) start(ctx context.Context, p wire.StartParams) (any, error) {
	folder, err := s.startFolder(p.Folder)
	if err != nil {
		return nil, err
	}
	asked := p
	request, err := p.Typed()
	if err != nil {
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "%v", err)
	}
	typed, err := start.ParseChange(p.LimitsText, limits.Default(), "")
	if err != nil {
		return nil, refusal.Invalid("limitsText", "%v", err)
	}
	request.Options = start.Options{Limits: typed}.Over(request.Options)
	switch {
	case request.Slash != "":
		return s.slash(ctx, request.Slash, p)
	case p.DryRun:
		return s.dryRun(ctx, asked, p, request, folder)
	}
	files := s.Files(folder)
	var cfg setup.Config
	var settings config.Settings
	err = s.withTrust(ctx, p.Trust, func() (err error) {
		if settings, err = service.LoadSettings(files); err == nil && p.Trust && settings.Trust != nil {
			return settings.Trust
		}
		if err == nil {
			cfg, _, err = s.configOf(ctx, p, request, folder, settings)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if _, _, err := service.CheckStart(cfg); err != nil {
		return nil, err
	}
	r, err := s.launchAsWanted(ctx, &cfg, treeWanted(p, request), p.Replace, settings)
	if err != nil {
		return nil, err
	}
	files = s.Files(cfg.Folder)
	turns.Of(ctx).End()
	start.Remember(files, cfg, r.Status().LoopID)
	r.Feed.AwaitBegin(ctx)
	st := r.Status()
	return wire.StartResult{LoopID: st.LoopID, State: string(st.State), StateFileURI: wire.FileURI(st.StateFile), SessionFileURI: wire.SessionURI(st), Worktree: wire.StatusOf(st, true).Worktree, Warnings: s.warn(cfg)}, nil
}

// launchAsWanted starts a loop where the start wants it. What is in the way may be
// replaced, or the user is asked.
func (s *starter) launchAsWanted(ctx context.Context, cfg *setup.Config, wanted start.Tree, replace bool, settings config.Settings) (*folders.Managed, error) {
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

// startFolder returns the folder that a start names; it must be there.
func (s *starter) startFolder(uri string) (string, error) {
	path, err := s.workspace.FolderPath(uri)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return "", refusal.Failed(wire.ReasonNoFolder, fmt.Errorf("there is no folder %s", path), nil)
	}
	return path, nil
}

// configOf makes a loop's configuration of a start's parameters, and tells
// where its values come from. Without an agent it is all but that, and an error.
func (s *starter) configOf(ctx context.Context, p wire.StartParams, request start.Request, folder string, settings config.Settings) (setup.Config, start.Sources, error) {
	own, err := optionsOf(p.Choices)
	steps, stepsErr := start.Named(p.Agent, p.Chain, p.Parallel)
	own.Steps, own.Said = steps, p.Said
	own.Check = start.Check{Verify: p.Verify, Until: p.Until, Off: p.NoVerify}
	if err = cmp.Or(err, stepsErr, own.Said.Check()); err != nil {
		return setup.Config{}, nil, err
	}
	resolver := start.Resolver{Start: own, Settings: settings, Detect: s.agents.detect, Attended: true}
	if p.Settings != nil {
		if resolver.Editor, err = optionsOf(p.Settings.Choices); err != nil {
			return setup.Config{}, nil, err
		}
		if err := p.Settings.CheckEditor(); err != nil {
			return setup.Config{}, nil, fmt.Errorf("the settings' %w", err)
		}
		resolver.Editor.Said = p.Settings.Said
		if host := p.Settings.Host; host != nil {
			resolver.Host = start.Agent{Name: host.Backend, Model: host.Model}
		}
	}
	given := prompts{s.Docs}
	prompt, says, err := given.given(p)
	if err != nil {
		return setup.Config{}, nil, err
	}
	promptFrom := config.FromStart
	if p.PromptURI == "" {
		prompt = cmp.Or(prompt, request.Prompt)
	}
	resolver.Start = resolver.Start.Over(request.Options)
	prompt = withSelection(prompt, p.Selection)
	_, state, _ := loop.StateIn(folder) // without one, no loop is known
	warnings := resolver.Adopt(says, s.Files(folder).KnowsLoop(state.LoopID))
	if prompt == "" && p.PromptURI == "" && resolver.Start.NeedsPrompt(settings) {
		if prompt, err = given.configured(folder, settings); err != nil {
			return setup.Config{}, nil, err
		}
		promptFrom = settings.Source("prompt_file")
	}
	resolver.Prompt = prompt
	cfg, sources, err := resolver.Resolve(ctx)
	if errors.As(err, new(*start.TemplateError)) {
		return setup.Config{}, nil, refusal.Failed(wire.ReasonBadPrompt, err, nil)
	}
	cfg.Folder, cfg.Version, cfg.Warnings = folder, s.version, append(cfg.Warnings, warnings...)
	if sources != nil {
		sources["prompt"] = promptFrom
	}
	if noModel := (*start.NoModelError)(nil); errors.As(err, &noModel) {
		return setup.Config{}, nil, refusal.Invalid("model", "%v: say it with args", err)
	}
	if err := checkPromise(cfg.Promise); err != nil {
		return setup.Config{}, nil, err
	}
	return cfg, sources, err
}

// withSelection returns a prompt with a selection behind it; each may be missing.
func withSelection(prompt, selection string) string {
	if prompt != "" && selection != "" {
		prompt += "\n\n"
	}
	return prompt + selection
}
