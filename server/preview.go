package server

import (
	"context"
	"encoding/json"

	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/server/refusal"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// dryRun tells what a start would do; asked is its argument as it came.
func (s *starter) dryRun(ctx context.Context, asked, p wire.StartParams, request start.Request, folder string) (any, error) {
	preview := service.Preview{Replace: p.Replace}
	files := s.Files(folder)
	files.Trusted = files.Trusted || p.Trust
	settings, err := preview.SettingsFor(files)
	if err == nil {
		preview.Config, preview.Sources, err = s.configOf(ctx, p, request, folder, settings)
		preview.Config.Folder = folder
		preview.InTree(ctx, treeWanted(p, request), settings.Worktree)
	}
	if refusal.IsInvalid(err) {
		return nil, err
	}
	preview.Config.Folder, preview.Met = folder, append(preview.Met, err)
	asked.DryRun = false
	argument, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	result, err := preview.Result(ctx, func(reason string) []wire.Command {
		return wire.OffersInstead(reason, wire.CommandStart, argument)
	})
	if preview.Sources != nil {
		result.Offers = answers.OffersAtStart(preview.Config.Verification.Suggested, start.Permits(ctx, preview.Config), argument)
	}
	return result, err
}
