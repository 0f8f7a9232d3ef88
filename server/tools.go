package server

import (
	"context"

	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// tool does what a model asks for, in some folders or in all that are open.
func (m *manager) tool(ctx context.Context, p answers.ToolParams) (any, error) {
	folders := m.workspace.Open()
	for i, uri := range p.Folders {
		path, err := m.workspace.FolderPath(uri)
		if err != nil {
			return nil, err
		}
		folders = append(folders[:i:i], path)
	}
	tools := service.Tools{
		Commands: m.controls.Commands,
		Preview:  m.starter.preview,
		Loops: func(ctx context.Context) ([]wire.LoopStatus, error) {
			listed, err := m.controls.listed(ctx, wire.FolderParams{})
			return listed.Loops, err
		},
	}
	return tools.Call(ctx, p, folders)
}
