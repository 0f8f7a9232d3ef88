package service

import (
	"context"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// CheckStart returns why a loop could not be started as its configuration says, as far as that can
// be told without touching anything: a refused start must leave the loop alone that it would
// replace. It also returns the first run's command line and prompt.
func CheckStart(cfg setup.Config) (argv []string, prompt string, err error) {
	if slices.ContainsFunc(cfg.Args, func(arg string) bool { return strings.ContainsRune(arg, 0) }) {
		return nil, "", wire.Invalid("args", "an argument has a NUL byte, which no program can be given")
	}
	if argv, prompt, err = cfg.DryRun(); err != nil {
		return nil, "", err
	}
	if cfg.Backend.Prompt == backends.PromptArg && len(prompt) > backends.MaxArg {
		return nil, "", wire.Invalid("prompt", "the prompt has %d bytes with the loop's rules, and %s takes it as an argument of at most %d",
			len(prompt), cfg.Backend.Name, backends.MaxArg)
	}
	if err := loopstate.CheckPlace(cfg.Folder); err != nil {
		return argv, prompt, err
	}
	walls, err := sandbox.Raise(context.Background(), cfg.Sandbox, cfg.Folder)
	walls.Close()
	return argv, prompt, err
}
