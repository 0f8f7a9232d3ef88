package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"ralph-lsp/loop"
)

func newPause() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pause",
		Short: "Let the loop finish its iteration and start no other",
		Args:  noArguments,
	}
	inFolder(cmd, func(cmd *cobra.Command, dir string, _ []string) error {
		if err := loop.PauseFolder(dir); err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), "the loop pauses after this iteration; go on with ralph-lsp resume")
		return nil
	})
	return cmd
}
