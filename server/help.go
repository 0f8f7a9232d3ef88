package server

import (
	"context"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// ofFolder is a command about the folder that is named, the workspace's only one, or none.
func (c *controls) ofFolder(answer func(ctx context.Context, folder string) any) func(context.Context, wire.FolderParams) (any, error) {
	return func(ctx context.Context, p wire.FolderParams) (any, error) {
		folder, err := c.workspace.FolderPath(p.Folder)
		if err != nil && p.Folder != "" {
			return nil, err
		}
		return answer(ctx, folder), nil
	}
}

// doctor says what a folder, "" for none, lacks.
func (m *manager) doctor(ctx context.Context, folder string) any {
	return m.controls.Service.Doctor(ctx, m.version, folder)
}

func (s *starter) sandbox(ctx context.Context, p wire.SandboxParams) (any, error) {
	return service.SetSandbox(ctx, config.FilesOf("", backends.Names()), p.Mode)
}

func (m *manager) help(context.Context, struct{}) (any, error) { return service.Help(), nil }
