package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/mcp"
	"github.com/ralph-lsp/ralph-lsp/server/stdio"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// newMCP makes the command that clients of the Model Context Protocol start.
func newMCP() *cobra.Command {
	var sidecar stdio.Sidecar
	cmd := inFolder(&cobra.Command{
		Use:   "mcp",
		Short: "Serve models that speak the Model Context Protocol (docs/MCP.md)",
		Args:  cobra.NoArgs,
	}, func(cmd *cobra.Command, dir string, _ []string) error {
		server := mcp.Server{Version: programVersion(), Folder: wire.FileURI(dir), Sidecar: besides(cmd, &sidecar)}
		return server.Serve(cmd.InOrStdin(), terminal.Unwrapped(cmd.OutOrStdout()).(io.Writer))
	})
	sidecar.AddLog(cmd.Flags())
	return cmd
}
