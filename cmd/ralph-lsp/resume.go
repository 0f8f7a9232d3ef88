package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"ralph-lsp/cmd/internal/cli"
	"ralph-lsp/loop"
)

// newResume first asks the process that drives the loop. Only without one the loop
// goes on here, as it would otherwise run twice.
func newResume() *cobra.Command {
	var flags loopFlags
	cmd := &cobra.Command{
		Use:   "resume",
		Short: "Let a paused, waiting, interrupted or failed loop go on",
		Long: `Let the loop in the folder go on. A paused loop starts its next iteration, and one
that waits for a rate limit tries again now. An interrupted or failed loop, which no
process drives any more, goes on in this terminal, as with run --continue; the flags
below are for that.`,
		Args: cli.NoArguments,
	}
	flags.addFlags(cmd)
	cmd.Flags().BoolVar(&flags.accept, "accept", false, "believe the promise that couldn't be verified, this once")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		dir, err := flags.folder()
		if err != nil {
			return err
		}
		err = loop.ResumeFolder(dir, "", loop.Patch{Accept: flags.accept})
		if errors.Is(err, loop.ErrNotRunning) {
			return flags.tellMissing(cmd, flags.resume(cmd, false))
		} else if err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), "the loop goes on")
		return nil
	}
	return cmd
}
