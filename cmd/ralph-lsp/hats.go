package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// newHats is the command that draws which hat wakes which.
func newHats() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hats",
		Short: "Show which hats hand work over to which",
		Long: `Show which topics wake which hats, and what doesn't fit together. Hats are described
below [hats] in the folder's ralph.toml and in your own.`,
		Args: cli.NoArguments,
	}
	return inFolder(cmd, func(cmd *cobra.Command, dir string, _ []string) error {
		settings, err := drawable(cmd, dir)
		if err != nil {
			return err
		}
		ring := settings.HatSet()
		if len(ring) == 0 {
			return fmt.Errorf("there are no hats: describe them below [hats.NAME] in %s, or begin with ralph-lsp init --preset "+
				"plan-build-review", config.Name)
		}
		fmt.Fprint(cmd.OutOrStdout(), stream.Sanitize(ring.Text()))
		return ringError(cmd, ring)
	})
}

// drawable are the settings of a folder, trusted or not: a drawing runs nothing, and who
// is to trust hats wants to see them.
func drawable(cmd *cobra.Command, dir string) (config.Settings, error) {
	files := filesOf(dir)
	settings, err := files.Load()
	untrusted := (*config.UntrustedError)(nil)
	if isLink := func() bool { return strings.HasPrefix(untrusted.Wants[0], untrusted.File+" -> ") }; errors.As(err, &untrusted) && !isLink() {
		fmt.Fprintf(cmd.ErrOrStderr(), "ralph-lsp: the hats of %s count when you trust it: ralph-lsp trust%s\n", config.Name,
			terminal.InFolderOf(dir))
		files.Trusted = true
		settings, err = files.Load()
	}
	return settings, badConfig(err)
}

// ringError tells what doesn't fit together; the error is what keeps a loop from starting.
func ringError(cmd *cobra.Command, ring hats.Set) error {
	for _, p := range ring.Check() {
		if p.Fatal {
			return errors.New(p.String())
		}
		fmt.Fprintln(cmd.ErrOrStderr(), "ralph-lsp: "+terminal.Line(p.String()))
	}
	return nil
}
