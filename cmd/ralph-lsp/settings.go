package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"ralph-lsp/backends"
	"ralph-lsp/config"
)

// filesFor says where the settings of a folder are. Who has no folder for
// configuration has no file of his own.
func filesFor(folder string) config.Files {
	userDir, err := config.UserDir()
	if err != nil {
		userDir = ""
	}
	return config.Files{Folder: folder, UserDir: userDir, Builtin: backends.Names()}
}

// loadSettings reads the settings of a folder, and asks a user at a terminal
// whether the folder's file is trusted where that matters.
func loadSettings(cmd *cobra.Command, folder string) (files config.Files, settings config.Settings, err error) {
	files = filesFor(folder)
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
	case strings.TrimSpace(string(data)) == "":
		return "", fmt.Errorf("the prompt in %s is empty; write into it what the agent shall do", path)
	}
	return string(data), nil
}

// contextOf is the command's context; there is none without cobra's ExecuteContext.
func contextOf(cmd *cobra.Command) context.Context {
	if ctx := cmd.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
}
