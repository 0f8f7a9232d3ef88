package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"ralph-lsp/backends"
	"ralph-lsp/config"
	"ralph-lsp/server"
	"ralph-lsp/wire"
)

// newSandbox is the command that says whether all loops of the user's have walls.
func newSandbox() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sandbox [workspace|off]",
		Short: "Put walls around the agents of all your loops, or see whether there are some",
		Long: `With workspace, the agents of your loops write the loop's folder and what is their
own, and see no keys of yours; with off, they may do what you may. That is written into
your own configuration, and counts for loops that start from now on. For one loop, say
run --sandbox workspace. Without an argument, it says how it stands here.`,
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: wire.SandboxModes,
	}
	inFolder(cmd, func(cmd *cobra.Command, dir string, args []string) error {
		files := config.FilesOf(dir, backends.Names())
		if len(args) == 1 {
			result, err := server.SetSandbox(contextOf(cmd), files, args[0])
			if err == nil {
				fmt.Fprintln(cmd.OutOrStdout(), plainLine(result.Text))
			}
			return err
		}
		settings, err := files.Load()
		if err != nil {
			return badConfig(err)
		}
		out := cmd.OutOrStdout()
		return printChecks(out, paletteFor(out), []wire.Check{server.CheckSandbox(contextOf(cmd), settings)})
	})
	return cmd
}
