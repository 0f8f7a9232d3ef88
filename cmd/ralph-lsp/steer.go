package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ralph-lsp/loop"
)

// newSteer only queues the text: it is the state file that the next run is told
// from, so the user can still change it there.
func newSteer() *cobra.Command {
	cmd := &cobra.Command{
		Use:         "steer [--] TEXT...",
		Short:       "Tell the loop's next run something",
		Example:     `  ralph-lsp steer "Leave the parser alone, fix the tests first"`,
		Annotations: map[string]string{takesText: "text"},
	}
	inFolder(cmd, func(cmd *cobra.Command, dir string, args []string) error {
		text := strings.TrimSpace(strings.Join(args, " "))
		if text == "" {
			return errors.New(`there is nothing to say; write ralph-lsp steer "..."`)
		}
		if err := loop.SteerFolder(dir, "", text); err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), "the next iteration will be told")
		return nil
	})
	return cmd
}
