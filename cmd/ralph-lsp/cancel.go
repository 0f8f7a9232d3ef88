package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"ralph-lsp/loop"
	"ralph-lsp/loopstate"
)

func newCancel() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cancel [LOOP]",
		Short: "End the loop in the folder now",
		Long:  "End the loop in the folder: its agent, everything that it started, and its state file.\nA loop that nobody drives, and that can go on, is discarded.",
		Args:  oneLoop,
	}
	ofLoop(cmd, func(cmd *cobra.Command, at place, _ []string) error { return cancelLoop(cmd, at) })
	return cmd
}

// cancelLoop ends the loop in a folder, or discards it, and says so.
func cancelLoop(cmd *cobra.Command, at place) error {
	dir := at.dir
	before, _, _, _ := loop.FolderStatus(dir)
	ctx, cancel := withPatience(cmd)
	defer cancel()
	iteration, err := loop.CancelFolder(ctx, dir, at.id)
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
	done := "cancelled"
	if before.State == loop.StateEnded {
		done = "discarded"
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s the loop (was at iteration %d)\n", done, iteration)
	return nil
}

// notLetGo says that a loop's owner takes longer than we wait.
func notLetGo(folder string) error {
	return fmt.Errorf("the loop in %s was told to end, but its process hasn't let go after %s; see ralph-lsp status%s", folder, patience, inFolderOf(folder))
}
