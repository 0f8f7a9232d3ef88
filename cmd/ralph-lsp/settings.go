package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"ralph-lsp/backends"
	"ralph-lsp/config"
)

// loadSettings reads the settings of a folder, and asks a user at a terminal
// whether the folder's file is trusted where that matters.
func loadSettings(cmd *cobra.Command, folder string) (files config.Files, settings config.Settings, err error) {
	files = config.FilesOf(folder, backends.Names())
	err = withTrust(cmd, func() error {
		settings, err = files.Load()
		return err
	})
	return files, settings, badConfig(err)
}

// badConfig keeps the lines of a list of problems.
func badConfig(err error) error {
	if errors.As(err, new(*config.InvalidError)) {
		return &exitError{exitFailed, err.Error()}
	}
	return err
}

// configuredPrompt is what is in the prompt file of the settings.
func configuredPrompt(folder string, settings config.Settings) (string, error) {
	path, err := settings.PromptPath(folder)
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile(path)
	isDefault := settings.Source("prompt_file") == config.FromDefault
	switch {
	case errors.Is(err, fs.ErrNotExist) && isDefault:
		return "", errors.New(noPrompt)
	case err != nil:
		return "", fmt.Errorf("reading the configured prompt file: %w", err)
	}
	return promptIn(path, data)
}

// contextOf is the command's context; there is none without cobra's ExecuteContext.
func contextOf(cmd *cobra.Command) context.Context {
	if ctx := cmd.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
}
