package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"ralph-lsp/cmd/internal/cli"
	"ralph-lsp/loop"
	"ralph-lsp/wire"
)

// newPause, like the other commands for a loop that runs, changes its state file:
// whoever drives it, an editor or another terminal, watches that.
func newPause() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pause",
		Short: "Pause the loop after this iteration",
		Args:  cli.NoArguments,
	}
	inFolder(cmd, func(cmd *cobra.Command, dir string, _ []string) error {
		if err := loop.PauseFolder(dir, ""); err != nil {
			return orLeft(dir, err)
		}
		fmt.Fprintln(cmd.OutOrStdout(), "the loop pauses after this iteration; "+goOn)
		return nil
	})
	return cmd
}

// newNext ends the iteration under way, and no other.
func newNext() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "next",
		Short: "End this iteration now and begin the next",
		Args:  cli.NoArguments,
	}
	inFolder(cmd, func(cmd *cobra.Command, dir string, _ []string) error {
		iteration, err := loop.NextFolder(dir, "")
		if err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), wire.NextText(iteration))
		return nil
	})
	return cmd
}
