package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"ralph-lsp/cmd/internal/cli"
	"ralph-lsp/loop"
	"ralph-lsp/loopstate"
)

func newCancel() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cancel",
		Short: "End the loop in the folder now",
		Long:  "End the loop in the folder: its agent, everything that it started, and its state file.\nAn interrupted or failed loop, which nobody drives, is discarded.",
		Args:  cli.NoArguments,
	}
	inFolder(cmd, func(cmd *cobra.Command, dir string, _ []string) error { return cancelLoop(cmd, dir) })
	return cmd
}

// cancelLoop ends the loop in a folder, or discards it, and says so.
func cancelLoop(cmd *cobra.Command, dir string) error {
	ctx, cancel := withPatience(cmd)
	defer cancel()
	iteration, err := loop.CancelFolder(ctx, dir, "")
	switch {
	case errors.Is(err, loop.ErrNotRunning):
		fmt.Fprintf(cmd.OutOrStdout(), "no loop is running in %s\n", plainLine(dir))
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return notLetGo(dir)
	case errors.As(err, new(*loopstate.SyntaxError)):
		return fmt.Errorf("%w (or delete the file, which discards the loop)", err)
	case err != nil:
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "cancelled the loop (was at iteration %d)\n", iteration)
	return nil
}

// notLetGo says that a loop's owner takes longer than we wait.
func notLetGo(folder string) error {
	return fmt.Errorf("the loop in %s was told to end, but its process hasn't let go after %s; see ralph-lsp status%s", folder, patience, inFolderOf(folder))
}
