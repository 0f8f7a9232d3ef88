package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/server/rpc"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// plan tells how to talk with an agent before a loop is started.
func (s *starter) plan(ctx context.Context, p answers.PlanParams) (any, error) {
	cwd, err := s.workspace.FolderPath(p.Folder)
	if err != nil {
		return nil, err
	}
	if p.SessionFileURI != "" {
		return continueInPi(cwd, p.SessionFileURI)
	}
	request, err := start.Parse(p.Text)
	if err != nil {
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "%v", err)
	}
	if request.Slash != "" {
		return nil, wire.Invalid("text", "%s is no prompt for a plan", request.Slash)
	}
	if request.Steps != nil {
		return nil, wire.Invalid("text", "agents of files do a loop's work; a plan is made with an agent's own interface: "+
			"leave out %s", start.AgentFlags(request.Steps, ""))
	}
	prompt := service.WithSelection(cmp.Or(p.Prompt, request.Prompt), p.Selection)
	var settings config.Settings
	err = service.WithTrust(p.Trust, s.permits(ctx), func() error {
		settings, err = service.LoadSettings(s.Files(cwd))
		return err
	})
	if err != nil {
		return nil, err
	}
	chosen := start.Options{Agent: start.Agent{Name: p.Backend, Hat: p.Hat}}.Over(request.Options)
	_, argv, err := start.Resolver{Start: chosen, Settings: settings, Detect: s.agents.detect}.Interactive(ctx, prompt)
	if noModel := (*start.NoModelError)(nil); errors.As(err, &noModel) {
		return nil, wire.Invalid("model", "%v: say it with args", err)
	}
	if err != nil {
		return nil, err
	}
	return answers.PlanResult{Argv: argv, Env: map[string]string{}, Cwd: cwd}, nil
}

// continueInPi tells how pi goes on with a session. pi itself writes into the
// file then, so a missing one is no start of a new one.
func continueInPi(cwd, sessionFileURI string) (any, error) {
	path, err := wire.PathOf(sessionFileURI)
	if err != nil {
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "sessionFileUri: %v", err)
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, wire.Failed(wire.ReasonNoSession, fmt.Errorf("there is no session %s", path))
	}
	pi, err := backends.Lookup("pi")
	if err != nil {
		return nil, err
	}
	program, err := pi.Find()
	if err != nil {
		return nil, err
	}
	return answers.PlanResult{Argv: []string{program, "--session", path}, Env: map[string]string{}, Cwd: cwd}, nil
}
