package server

import (
	"context"
	"errors"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/server/session"
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
