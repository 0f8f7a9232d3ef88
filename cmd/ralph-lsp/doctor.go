package main

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

func newDoctor() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check that a loop can run here",
		Args:  cli.NoArguments,
	}
	asJSON := cmd.Flags().Bool("json", false, "print one JSON object")
	all := cmd.Flags().Bool("all", false, "show the settings that are built in and the agents that are missing, too")
	return inFolder(cmd, func(cmd *cobra.Command, dir string, _ []string) error {
		out := cmd.OutOrStdout()
		found := local.Doctor(cmd.Context(), programVersion(), dir, checkTerminal(out)) // which only matters here
		if *asJSON {
			terminal.WriteJSON(out, found)
			return nil
		}
		return printFound(out, found, *all)
	})
}

func checkTerminal(out io.Writer) answers.Check {
	c := answers.Check{ID: "terminal", OK: true, Message: "the output isn't a terminal: plain text"}
	if f, ok := terminal.Is(out); ok {
		colour := "colour"
		if !terminal.PaletteFor(out).On {
			colour = "no colour"
		}
		c.Message = fmt.Sprintf("a terminal of %d columns, %s (TERM=%s)", terminal.WidthOf(f)(), colour, os.Getenv("TERM"))
	}
	return c
}

// printFound prints the verdict, and what it comes from.
func printFound(out io.Writer, found answers.DoctorResult, all bool) error {
	p, width := terminal.PaletteFor(out), terminal.LineWidth(out)
	fmt.Fprintln(out, terminal.Wrapped(p.Bold(terminal.Line(found.Text)), width, 0))
	shown := slices.DeleteFunc(slices.Clone(found.Checks), func(c answers.Check) bool { return c.Minor && !all })
	err := printChecks(out, shown)
	if len(shown) < len(found.Checks) {
		fmt.Fprintln(out, terminal.Wrapped(p.Dim("  all settings and agents: ralph-lsp doctor --all"), width, 2))
	}
	return err
}

// printChecks prints checks. It is an error if something keeps loops from running.
func printChecks(out io.Writer, checks []answers.Check) error {
	if problems := terminal.PrintChecks(out, terminal.PaletteFor(out), terminal.LineWidth(out), checks); problems > 0 {
		return &exitError{code: terminal.ExitFailed,
			message: format.Counted(problems, "problem") + " found, marked ✗ above; a loop can't run until that is mended"}
	}
	return nil
}
