package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/server/acp"
	"github.com/ralph-lsp/ralph-lsp/server/stdio"
	"github.com/ralph-lsp/ralph-lsp/service"
)

// newACP makes the command that clients of the Agent Client Protocol start.
func newACP() *cobra.Command {
	return &cobra.Command{
		Use:   "acp",
		Short: "Serve an editor that speaks the Agent Client Protocol (docs/ACP.md)",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			loops := &service.Window{Starter: starter(), Returns: stdio.Returns()}
			defer loops.Close()
			agent := acp.Agent{Version: programVersion(), Loops: loops}
			return agent.Serve(cmd.InOrStdin(), terminal.Unwrapped(cmd.OutOrStdout()).(io.Writer))
		},
	}
}
