package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ralph-lsp/loop"
	"ralph-lsp/loop/start"
)

func newUpdate() *cobra.Command {
	var patch loop.Patch
	cmd := &cobra.Command{
		Use:   "update [LOOP]",
		Short: "Change limits or the promise of the loop while it runs",
		Long: `Change limits or the promise of the loop in the folder. They count at once;
what you leave out stays as it is. To change the prompt, edit the state file.`,
		Example: `  ralph-lsp update --completion-promise DONE
  ralph-lsp update --max-iterations 100 --max-cost 7.50`,
		Args: oneLoop,
	}
	start.AddLimits(cmd.Flags(), &patch)
	cmd.Flags().VisitAll(func(f *pflag.Flag) { f.DefValue = "" }) // without a flag nothing changes
	ofLoop(cmd, func(cmd *cobra.Command, at place, _ []string) error {
		dir := at.dir
		if patch == (loop.Patch{}) {
			return errors.New("there is nothing to change; say what, as in ralph-lsp update --completion-promise DONE")
		}
		if err := loop.UpdateFolder(dir, at.id, patch); err != nil {
			return orLeft(dir, err)
		}
		fmt.Fprintln(cmd.OutOrStdout(), "changed; it counts at once"+nowBoundedBy(dir))
		return nil
	})
	return cmd
}

// nowBoundedBy says what bounds the folder's loop, behind other words; "" when
// that can't be read any more.
func nowBoundedBy(folder string) string {
	now, _, _, err := loop.FolderStatus(folder)
	if err != nil {
		return ""
	}
	return ": " + now.Limits.Line(plainLine(now.Promise))
}
