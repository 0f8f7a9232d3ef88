package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
)

// newTrust is the command that makes a folder's file count. It shows the file's wishes and doesn't ask: calling it is
// the decision.
func newTrust() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "Trust what the folder's ralph.toml and agents run and loosen",
		Long: `Let the folder's ralph.toml name programs, arguments and files outside the folder, and
loosen your limits. Loops may then use the agents of the folder's markdown files, too
(see ralph-lsp agents), and run the checks of the plan that it names. Trust is for each
file as it is now: after a change you are asked again. A program in the folder that the
file names stays trusted even if it changes.`,
		Args: cli.NoArguments,
	}
	forget := cmd.Flags().Bool("forget", false, "don't trust it any more")
	return inFolder(cmd, func(cmd *cobra.Command, dir string, _ []string) error {
		if *forget {
			known, err := filesOf(dir).Forget()
			if err != nil {
				return err
			}
			said := "nothing in %s was trusted\n"
			if known {
				said = config.Name + " and agents of %s are no longer trusted, in any version\n"
			}
			fmt.Fprintf(cmd.OutOrStdout(), said, terminal.Line(dir))
			return nil
		}
		trusted, err := local.Trust(dir)
		for _, what := range trusted {
			said := terminal.Line(what.File) + " is trusted now; it says"
			if what.Agents {
				said = "the folder's files for agents are trusted now"
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s\n  %s\n", said, strings.Join(what.Lines(), "\n  "))
		}
		if err == nil && len(trusted) == 0 {
			fmt.Fprintln(cmd.OutOrStdout(), "there is nothing to trust: what it says counts already")
		}
		return badConfig(err)
	})
}

// withTrust does what untrusted files may keep from being done, after asking
// a user at a terminal about each.
func withTrust(cmd *cobra.Command, do func() error) error {
	err := do()
	var untrusted *config.UntrustedError
	if !errors.As(err, &untrusted) {
		return err
	}
	says := untrusted.Error() + "\n"
	switch yes, asked := confirm(cmd, says+"Trust it, as it is now?"); {
	case !asked:
		return &exitError{terminal.ExitFailed, says + howToTrust(untrusted)}
	case !yes:
		return &exitError{terminal.ExitFailed, "not trusted; nothing was started"}
	}
	if err := untrusted.Remember(); err != nil {
		return err
	}
	return withTrust(cmd, do)
}

// howToTrust tells what makes a file count.
func howToTrust(e *config.UntrustedError) string {
	if e.Agents || strings.HasSuffix(e.File, config.Name) {
		return "If you trust that, say so with: ralph-lsp trust"
	}
	return "If you trust that, name it yourself: --backend NAME, with --backend-arg for each argument"
}
