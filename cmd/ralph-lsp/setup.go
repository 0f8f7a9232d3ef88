package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
)

// newSetup is the command by which a fleet's worker prepares a checkout: like an iteration
// it ends with its input or its lease, and nothing that it starts outlives it.
func newSetup() *cobra.Command {
	held := once{wanted: true}
	cmd := &cobra.Command{
		Use:    "setup -- COMMAND...",
		Hidden: true,
		Args:   cobra.MinimumNArgs(1),
	}
	cmd.Flags().DurationVar(&held.lease, "lease", 0, "end when standard input brings no line for this `TIME`")
	inFolder(cmd, func(cmd *cobra.Command, dir string, commands []string) error {
		ctx, interrupt := context.WithCancel(cmd.Context())
		defer interrupt()
		over := make(chan struct{})
		defer close(over)
		held.hold(cmd.InOrStdin(), interrupt, over)
		err := start.SetUp(ctx, dir, commands, backends.QuickGrace, cmd.OutOrStdout())
		if failed := (*start.SetupError)(nil); errors.As(err, &failed) {
			return errors.New("the setup: " + failed.Words())
		}
		return err
	})
	return cmd
}
