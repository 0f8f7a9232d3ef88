package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/notify"
	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// newNotify is about how loops call their user.
func newNotify() *cobra.Command {
	cmd := &cobra.Command{Use: "notify", Short: "Try how loops call you"}
	test := &cobra.Command{
		Use:   "test",
		Short: "Notify yourself in each way that is on, and say why others aren't",
		Long: `Send a notification in each way that [notify] of your config.toml, or of the folder's
ralph.toml, has switched on. Exits with 1 if one of them fails.`,
		Args: cli.NoArguments,
	}
	cmd.AddCommand(inFolder(test, func(cmd *cobra.Command, dir string, _ []string) error {
		_, s, err := loadSettings(cmd, dir)
		if err != nil {
			return err
		}
		note := notify.Note{Event: "test", Folder: dir, Title: notify.TitleOf(dir), Text: "this is how a loop calls you", Class: wire.ClassInfo}
		failed := 0
		for _, r := range notify.Test(cmd.Context(), s.Notify, terminal.NotifyAt(cmd.OutOrStdout(), nil), note) {
			said := "✓ " + r.Way + ": you are told"
			switch {
			case r.Off != "":
				said = "– " + r.Way + ": " + r.Off
			case r.Err != nil:
				failed++
				said = "✗ " + r.Way + ": " + wire.OneLine(r.Err.Error())
			}
			fmt.Fprintln(cmd.OutOrStdout(), said)
		}
		if failed > 0 {
			return fmt.Errorf("%s failed, marked ✗ above", tell.Counted(failed, "way"))
		}
		return nil
	}))
	return cmd
}
