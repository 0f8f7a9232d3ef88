// Package notifytest is the command that tries how loops call their user.
package notifytest

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/cmd/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/notify"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// New is the command. load reads the settings of a folder, and here is the terminal.
func New(folderOf func(*cobra.Command) func() (string, error), load func(*cobra.Command, string) (config.Files, config.Settings, error), here func(stdout io.Writer, warn func(string)) notify.At) *cobra.Command {
	cmd := &cobra.Command{Use: "notify", Short: "Try how loops call you"}
	test := &cobra.Command{
		Use:   "test",
		Short: "Notify yourself in each way that is on, and say why others aren't",
		Long: `Send a notification in each way that [notify] of your config.toml, or of the folder's
ralph.toml, has switched on. Exits with 1 if one of them fails.`,
		Args: cli.NoArguments,
	}
	folder := folderOf(test)
	test.RunE = func(cmd *cobra.Command, _ []string) error {
		dir, err := folder()
		if err != nil {
			return err
		}
		_, s, err := load(cmd, dir)
		if err != nil {
			return err
		}
		note := notify.Note{Event: "test", Folder: dir, Title: notify.TitleOf(dir), Text: "this is how a loop calls you", Class: wire.ClassInfo}
		failed := 0
		for _, r := range notify.Test(context.Background(), s.Notify, here(cmd.OutOrStdout(), nil), note) {
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
	}
	cmd.AddCommand(test)
	return cmd
}
