package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/server/acp"
	"github.com/ralph-lsp/ralph-lsp/server/stdio"
)

// newACP makes the command that clients of the Agent Client Protocol start.
func newACP() *cobra.Command {
	var sidecar stdio.Sidecar
	cmd := &cobra.Command{
		Use:   "acp",
		Short: "Serve an editor that speaks the Agent Client Protocol (docs/ACP.md)",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			agent := acp.Agent{Version: programVersion(), Sidecar: besides(cmd, &sidecar)}
			return agent.Serve(cmd.InOrStdin(), terminal.Unwrapped(cmd.OutOrStdout()).(io.Writer))
		},
	}
	sidecar.AddLog(cmd.Flags())
	return cmd
}
