package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/server"
	"github.com/ralph-lsp/ralph-lsp/wire"
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
		width := lineWidth(out)
		fmt.Fprintln(out, wrapped(p.bold("Ralph")+" would run "+p.cyan(plainLine(preview.Text)), width, 2))
		for _, row := range preview.Details {
			printFact(out, p, len("permissions"), row.Label, row.Text)
		}
		for _, warning := range preview.Warnings {
			fmt.Fprintln(out, wrapped(p.yellow("! ")+plainLine(warning), width, 2))
		}
		for _, why := range plan.Met {
			text := explain(why)
			if untrusted := (*config.UntrustedError)(nil); errors.As(why, &untrusted) {
				text = untrusted.Error() // a line for each thing that it wants
			}
			for line := range strings.SplitSeq(p.red("✗ ")+text, "\n") {
				fmt.Fprintln(out, wrapped(line, width, 4))
			}
		}
	}
	if err == nil && len(plan.Met) > 0 {
		return &exitError{exitFailed, "this start would be refused"}
	}
	return err
}
