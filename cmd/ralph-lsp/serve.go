package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/cmd/internal/keeper"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/server/stdio"
)

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
