package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"ralph-lsp/loop"
)

// newPause, like the other commands for a loop that runs, changes its state file:
// whoever drives it, an editor or another terminal, watches that.
func newPause() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pause",
		Short: "Pause the loop after this iteration",
		Args:  noArguments,
	}
	inFolder(cmd, func(cmd *cobra.Command, dir string, _ []string) error {
		if err := loop.PauseFolder(dir, ""); err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), "the loop pauses after this iteration; "+goOn)
		return nil
	})
	return cmd
}
