package server

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/server/refusal"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// withTrust does what untrusted files in the folder may keep from being done:
// it is done again for each that the user trusts. A client that asks its user
// itself says so with trust.
func (s *starter) withTrust(ctx context.Context, trust bool, do func() error) error {
	for trusted := ""; ; {
		err := do()
		var untrusted *config.UntrustedError
		if !errors.As(err, &untrusted) || untrusted.File == trusted {
			return err
		}
		if !trust || untrusted.Agents && trusted != "" { // nobody has seen those yet
			if s.User.AsksItself() {
				return err
			}
			if chosen, err := s.User.Permit(ctx, untrusted.Error(), session.AboutTrust, err); chosen != session.ActionTrust {
				return err
			}
		}
		if err := untrusted.Remember(); err != nil {
			return err
		}
		trusted = untrusted.File
	}
}

// loadSettings reads the files. One that can't even be read is as bad as one
// with mistakes.
func loadSettings(files config.Files) (config.Settings, error) {
	settings, err := files.Load()
	var invalid *config.InvalidError
	var untrusted *config.UntrustedError
	if err == nil || errors.As(err, &invalid) || errors.As(err, &untrusted) {
		return settings, err
	}
	name := filepath.Join(files.Folder, config.Name)
	if info, statErr := os.Stat(name); statErr != nil || info.Mode().IsRegular() {
		name = filepath.Join(files.UserDir, config.UserName)
	}
	problem := answers.ConfigProblem{FileURI: wire.FileURI(name), Line: 1, Column: 1, Message: err.Error()}
	return settings, refusal.Failed(wire.ReasonBadConfig, err, map[string]any{"problems": []answers.ConfigProblem{problem}})
}
