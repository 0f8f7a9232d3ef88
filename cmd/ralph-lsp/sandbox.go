package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// newSandbox is the command that says whether all loops of the user's have walls.
func newSandbox() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sandbox [workspace|off]",
		Short: "Put walls around the agents of all your loops, or see whether there are some",
		Long: `Put walls around the agents of all your loops. With workspace, agents write the loop's
folder and what is their own, and see no keys of yours. With off, they may do what you
may. This is written into your own configuration, and counts for loops that start from
now on. For one loop, say run --sandbox workspace. Without an argument, sandbox says how
it stands here, and what agents behind walls see of your home.`,
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: answers.SandboxModes,
	}
	return inFolder(cmd, func(cmd *cobra.Command, dir string, args []string) error {
		files := filesOf(dir)
		if len(args) == 1 {
			result, err := service.SetSandbox(cmd.Context(), files, args[0])
			if err == nil {
				fmt.Fprintln(cmd.OutOrStdout(), terminal.Line(result.Text))
			}
			return err
		}
		settings, err := files.Load()
		if err != nil {
			return badConfig(err)
		}
		out := cmd.OutOrStdout()
		if err := printChecks(out, []answers.Check{service.CheckSandbox(cmd.Context(), settings)}); err != nil {
			return err
		}
		return printOpenings(out, settings.Sandbox, dir)
	})
}

// printOpenings lists the visible part of the home inside. Missing entries are left out.
func printOpenings(out io.Writer, spec sandbox.Spec, dir string) error {
	opened, err := spec.Openings(dir)
	if err != nil {
		return err
	}
	home, _ := os.UserHomeDir()
	var kinds []string
	of := map[string][]string{}
	for _, o := range opened {
		path := o.Path
		if rest, ok := strings.CutPrefix(path, paths.Real(home)+"/"); ok {
			path = "~/" + rest
		}
		kind := o.Way + " (" + o.Whose + ")"
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
		of[kind] = append(of[kind], path)
	}
	slices.Sort(kinds)
	fmt.Fprintln(out, "\nOf your home, an agent behind walls sees this folder, its own settings, and")
	for _, kind := range kinds {
		fmt.Fprintln(out, "  "+terminal.Line(kind+": "+strings.Join(of[kind], ", ")))
	}
	_, err = fmt.Fprintln(out, `More: read = ["~/lib"] below [sandbox] in `+"your configuration")
	return err
}
