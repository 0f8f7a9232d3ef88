package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ralph-lsp/cmd/internal/cli"
	"ralph-lsp/loop"
	"ralph-lsp/wire"
)

// newSteer only queues the text in the state file, so that the user can still change it there
// before an agent has read it.
func newSteer() *cobra.Command {
	var next bool
	cmd := &cobra.Command{
		Use:   "steer [--next] [LOOP] [--] TEXT...",
		Short: "Tell the loop something",
		Long: `Tell the loop something. In a live loop, pi and claude read it at their next step
(docs/BACKENDS.md). Otherwise, and with --next, the next run is told.`,
		Example:     `  ralph-lsp steer "Leave the parser alone, fix the tests first"`,
		Annotations: map[string]string{cli.TakesText: "text"},
	}
	ofLoop(cmd, func(cmd *cobra.Command, at place, args []string) error {
		dir := at.dir
		text := strings.TrimSpace(strings.Join(args, " "))
		if text == "" {
			return errors.New(`there is nothing to say; write ralph-lsp steer "..."`)
		}
		if err := loop.SteerFolder(dir, at.id, text, next); err != nil {
			return orLeft(dir, err)
		}
		fmt.Fprintln(cmd.OutOrStdout(), wire.SteeredText(loop.IsLive(dir) && !next))
		return nil
	})
	cmd.Flags().BoolVar(&next, "next", false, "tell the next run, not the one that is under way")
	return cmd
}
