package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/acp"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/acplist"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/keeper"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/terminal"
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
			agent := acp.Agent{Version: programVersion(), Sidecar: func(in io.Reader, out io.Writer) {
				_, _ = sidecar.Run(in, out, cmd.ErrOrStderr(), programVersion(), keeper.Start, nil)
			}}
			return agent.Serve(cmd.InOrStdin(), terminal.Unwrapped(cmd.OutOrStdout()).(io.Writer))
		},
	}
	cmd.AddCommand(acplist.NewList(), acplist.NewUpdate())
	sidecar.AddLog(cmd.Flags())
	return cmd
}

// serveEditor serves an editor, or shows the help to a person.
func serveEditor(cmd *cobra.Command, s *stdio.Sidecar) error {
	if _, ok := terminal.Is(cmd.InOrStdin()); ok && !s.Wanted {
		return cmd.Help()
	}
	stdout := terminal.Unwrapped(cmd.OutOrStdout()).(io.Writer) // the server looks after its errors
	code, err := s.Run(cmd.InOrStdin(), stdout, cmd.ErrOrStderr(), programVersion(), keeper.Start, nil)
	if err == nil && code != terminal.ExitDone {
		return &exitError{code: code} // the log has said why
	}
	return err
}
