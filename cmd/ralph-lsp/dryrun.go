package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"ralph-lsp/server"
	"ralph-lsp/wire"
)

// tellPlan says what a start would do, as editors say it, and fails if it would be
// refused.
func (l *loopFlags) tellPlan(cmd *cobra.Command, plan server.Plan) error {
	out := cmd.OutOrStdout()
	p := paletteFor(out)
	preview, err := plan.Preview(contextOf(cmd), func(string) []wire.Command { return nil })
	switch {
	case err != nil:
		return err
	case l.shown.style.Value == styleJSON:
		err = printJSON(out, preview)
	default:
		fmt.Fprintln(out, p.bold("Ralph")+" would run "+p.cyan(plainLine(preview.Text)))
		for _, row := range preview.Details {
			printFact(out, p, len("permissions"), row.Label, row.Text)
		}
		for _, warning := range preview.Warnings {
			fmt.Fprintln(out, p.yellow("! ")+plainLine(warning))
		}
		for _, why := range plan.Met {
			fmt.Fprintln(out, p.red("✗ ")+explain(why))
		}
	}
	if err == nil && len(plan.Met) > 0 {
		return &exitError{exitFailed, "this start would be refused"}
	}
	return err
}
