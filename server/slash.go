package server

import (
	"context"

	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// slash does what a text asks for that is a command and no start.
func (s *starter) slash(ctx context.Context, command start.Slash, p wire.StartParams) (any, error) {
	result := wire.SlashResult{Command: string(command)}
	switch {
	case p.DryRun:
	case command == start.SlashHelp:
		result.HelpResult = new(service.Help())
	default:
		ended, err := s.controls.Cancel(ctx, wire.CancelParams{LoopParams: wire.LoopParams{Folder: p.Folder}})
		if err != nil {
			return nil, err
		}
		result.LoopResult = &ended
	}
	return result, nil
}
