package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"ralph-lsp/loop"
	"ralph-lsp/wire"
)

// ofDriver is a command that asks whoever drives a loop, an editor or another terminal, for
// something, and prints what comes of it.
func ofDriver(use, short, long string, ask func(at place) (said string, err error)) *cobra.Command {
	cmd := &cobra.Command{Use: use + " [LOOP]", Short: short, Long: long, Args: oneLoop}
	ofLoop(cmd, func(cmd *cobra.Command, at place, _ []string) error {
		said, err := ask(at)
		if err == nil {
			fmt.Fprintln(cmd.OutOrStdout(), said)
		}
		return err
	})
	return cmd
}

func newPause() *cobra.Command {
	return ofDriver("pause", "Pause the loop after this iteration", "", func(at place) (string, error) {
		return "the loop pauses after this iteration; " + goOn, orLeft(at.dir, loop.PauseFolder(at.dir, at.id))
	})
}

// newNext ends the iteration under way, and no other.
func newNext() *cobra.Command {
	return ofDriver("next", "End this iteration now and begin the next", "", func(at place) (string, error) {
		iteration, err := loop.NextFolder(at.dir, at.id)
		return wire.NextText(iteration), err
	})
}

func newDetach() *cobra.Command {
	return ofDriver("detach", "Let a loop go on alone, without its window", `Let a loop that runs in another terminal or in an editor go on in a process of its
own, once its iteration has ended. Its window may then be closed: the loop ends with
its limits, its promise or ralph-lsp cancel. If the window is closed before that,
the iteration is cut off and run again.`, func(at place) (string, error) {
		iteration, err := loop.DetachFolder(at.dir, at.id)
		return wire.DetachText(iteration), err
	})
}
