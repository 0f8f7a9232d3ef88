package service

import (
	"context"
	"errors"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// CheckSandbox tells whether there are walls around the agents of a folder, and whether there can
// be. If no walls are wanted, none are missing.
func CheckSandbox(ctx context.Context, settings config.Settings) answers.Check {
	spec := settings.Sandbox
	check := answers.Check{ID: "sandbox", OK: true, Optional: !spec.IsOn()}
	err := sandbox.Check(ctx, spec.EngineOf())
	if known := (*sandbox.Error)(nil); errors.As(err, &known) {
		check.Fix = known.Fix
		err = errors.New(known.What + ": " + known.Why)
	}
	from := " (" + wire.SourceText[settings.Source("sandbox.mode")] + ")"
	switch {
	case err != nil:
		check.OK, check.Message = false, wire.Whole(err.Error())
	case spec.IsOn():
		check.Message = "sandbox: " + wire.SandboxText(spec) + from
		if open := sandbox.OpenSockets(spec); open != "" {
			check.Message += "; " + open
		}
	default:
		check.Message = "no sandbox" + from + "; " + spec.EngineOf() + " can make one: --sandbox workspace"
	}
	return check
}

// SetSandbox writes into the user's configuration whether there are walls around the agents of all
// loops. If walls can't be made here, it writes nothing and says why.
func SetSandbox(ctx context.Context, files config.Files, mode string) (answers.SandboxResult, error) {
	if mode != sandbox.Workspace && mode != sandbox.Off {
		return answers.SandboxResult{}, wire.Invalid("mode", "mode is %q: say workspace or off", mode)
	}
	settings, err := config.Files{UserDir: files.UserDir, Builtin: files.Builtin}.Load()
	if err == nil && mode == sandbox.Workspace {
		err = sandbox.Check(ctx, settings.Sandbox.EngineOf())
	}
	if err != nil {
		return answers.SandboxResult{}, err
	}
	file, err := files.SetOwn("sandbox", "mode", mode)
	return answers.SandboxResultOf(mode, file), err
}
