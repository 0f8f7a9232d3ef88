package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
)

// newResume first asks the process that drives the loop. Only without one the loop
// goes on here, as it would otherwise run twice.
func newResume() *cobra.Command {
	var flags loopFlags
	cmd := &cobra.Command{
		Use:   "resume [LOOP]",
		Short: "Let a loop go on that pauses, waits or is over",
		Long: `Let the loop in the folder go on. A paused loop starts its next iteration, and one
that waits for a rate limit tries again now. A loop that was interrupted, failed or
reached a limit goes on in this terminal, as with run --continue; the flags below are
for that.`,
		Args: oneLoop,
	}
	flags.addFlags(cmd, start.ToResume)
	cmd.Flags().BoolVar(&flags.Limits.Accept, "accept", false, "believe the promise that couldn't be verified, this once")
	start.AboutEnd.In(cmd.Flags(), false, "accept")
	cmd.ValidArgsFunction = completeIDs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		at, _, err := placeOf(cmd, args)
		if err != nil {
			return err
		}
		err = at.loop().Resume(loop.Patch{Accept: flags.Limits.Accept})
		if errors.Is(err, loop.ErrNotRunning) {
			return flags.tellMissing(cmd, flags.resume(cmd, at.dir))
		} else if err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), "the loop goes on")
		return nil
	}
	return cmd
}
