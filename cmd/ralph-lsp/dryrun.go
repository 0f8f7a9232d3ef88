package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/cmd/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/server"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// tellPlan says what a start would do, as editors say it, and fails if it would be
// refused.
func (l *loopFlags) tellPlan(cmd *cobra.Command, plan server.Plan) error {
	out := cmd.OutOrStdout()
	p := terminal.PaletteFor(out)
	preview, err := plan.Preview(contextOf(cmd), func(string) []wire.Command { return nil })
	switch {
	case err != nil:
		return err
	case l.shown.style.Value == terminal.JSON:
		err = terminal.WriteJSON(out, preview)
	default:
		width := terminal.LineWidth(out)
		fmt.Fprintln(out, terminal.Wrapped(p.Bold("Ralph")+" would run "+p.Cyan(terminal.Line(preview.Text)), width, 2))
		for _, row := range preview.Details {
			terminal.PrintFact(out, p, len("permissions"), row.Label, row.Text)
		}
		for _, warning := range preview.Warnings {
			fmt.Fprintln(out, terminal.Wrapped(p.Yellow("! ")+terminal.Line(warning), width, 2))
		}
		for _, why := range plan.Met {
			text := explain(why)
			if untrusted := (*config.UntrustedError)(nil); errors.As(why, &untrusted) {
				text = untrusted.Error() // a line for each thing that it wants
			}
			for line := range strings.SplitSeq(p.Red("✗ ")+text, "\n") {
				fmt.Fprintln(out, terminal.Wrapped(line, width, 4))
			}
		}
	}
	if err == nil && len(plan.Met) > 0 {
		return &exitError{terminal.ExitFailed, "this start would be refused"}
	}
	return err
}
