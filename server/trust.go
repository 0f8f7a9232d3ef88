package server

import (
	"context"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/service"
)

// withTrust is service.WithTrust, which asks the user of a client without a plugin. Any other says so with trust.
func (s *starter) withTrust(ctx context.Context, trust bool, do func() error) error {
	return service.WithTrust(trust, func(err *config.UntrustedError) error {
		if s.User.AsksItself() {
			return err
		}
		if chosen, err := s.User.Permit(ctx, err.Error(), session.AboutTrust, err); chosen != session.ActionTrust {
			return err
		}
		return nil
	}, do)
}
