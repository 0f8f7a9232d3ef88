package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/wire"
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
		checks := append(local.Doctor(cmd.Context(), programVersion(), dir), checkTerminal(out)) // which only matters here
		if *asJSON {
			terminal.WriteJSON(out, answers.DoctorResult{Checks: checks})
			return nil
		}
		return printChecks(out, checks, *all)
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

// isMinor says whether a check can be left out: it is a setting that nobody has made, or an
// agent that isn't there where another one is.
func isMinor(c answers.Check, hasAgent bool) bool {
	isDefault := strings.HasPrefix(c.ID, "setting.") && strings.HasSuffix(c.Message, "("+wire.SourceText[config.FromDefault]+")")
	return isDefault || hasAgent && strings.HasPrefix(c.ID, "backend.") && strings.HasSuffix(c.Message, " is not installed")
}

func printChecks(out io.Writer, checks []answers.Check, all bool) error {
	p, width := terminal.PaletteFor(out), terminal.LineWidth(out)
	hasAgent := slices.ContainsFunc(checks, func(c answers.Check) bool { return c.ID == "backend" && c.OK })
	shown := slices.DeleteFunc(slices.Clone(checks), func(c answers.Check) bool { return !all && isMinor(c, hasAgent) })
	problems := terminal.PrintChecks(out, p, width, shown)
	if len(shown) < len(checks) {
		fmt.Fprintln(out, terminal.Wrapped(p.Dim("  all settings and agents: ralph-lsp doctor --all"), width, 2))
	}
	if problems > 0 {
		return &exitError{code: terminal.ExitFailed,
			message: tell.Counted(problems, "problem") + " found, marked ✗ above; a loop can't run until that is mended"}
	}
	return nil
}
