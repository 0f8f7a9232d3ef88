package main

import (
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/service"
)

const noPrompt = `the prompt is empty; give it as words (ralph-lsp run "..."), with --prompt-file FILE, or on standard ` +
	`input with --prompt-file -`

// filesOf are the files with the settings of a folder.
func filesOf(folder string) config.Files { return config.FilesOf(folder, backends.Names()) }

// local does what is asked of the loops of this machine.
var local = &service.Service{Files: filesOf}

// loadSettings reads the settings of a folder, and asks a user at a terminal
// whether the folder's file is trusted where that matters.
func loadSettings(cmd *cobra.Command, folder string) (files config.Files, settings config.Settings, err error) {
	files = filesOf(folder)
	err = withTrust(cmd, func() error {
		settings, err = files.Load()
		return err
	})
	return files, settings, badConfig(err)
}

// badConfig keeps the lines of a list of problems.
func badConfig(err error) error {
	if errors.As(err, new(*config.InvalidError)) {
		return &exitError{terminal.ExitFailed, err.Error()}
	}
	return err
}

// configuredPrompt is what is in the prompt file of the settings.
func configuredPrompt(folder string, settings config.Settings) (string, error) {
	path, err := settings.PromptPath(folder)
	if err != nil {
		return "", err
	}
	text, err := start.ReadText(path)
	isDefault := settings.Source("prompt_file") == config.FromDefault
	switch {
	case errors.Is(err, fs.ErrNotExist) && isDefault:
		return "", errors.New(noPrompt)
	case err != nil:
		return "", err
	}
	return start.PromptOfFile(path, []byte(text))
}
