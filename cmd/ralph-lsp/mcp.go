package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/server/mcp"
	"github.com/ralph-lsp/ralph-lsp/server/stdio"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// newMCP makes the command that clients of the Model Context Protocol start.
func newMCP() *cobra.Command {
	return inFolder(&cobra.Command{
		Use:   "mcp",
		Short: "Serve models that speak the Model Context Protocol (docs/MCP.md)",
		Args:  cobra.NoArgs,
	}, func(cmd *cobra.Command, dir string, _ []string) error {
		models := &service.Models{Window: service.Window{Starter: starter(), Returns: stdio.Returns()}}
		defer models.Close()
		server := mcp.Server{Version: programVersion(), Folder: wire.FileURI(dir), Tools: models}
		return server.Serve(cmd.InOrStdin(), terminal.Unwrapped(cmd.OutOrStdout()).(io.Writer))
	})
}

// starter makes configurations of loops whose user can be asked.
func starter() service.Starter {
	return service.Starter{Service: local, Version: programVersion(), Detect: start.Installed, Attended: true}
}
