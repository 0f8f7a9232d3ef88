package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/notify"
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
ralph.toml, has switched on, and wait two minutes for your answer by its reply command, if
there is one. Exits with 1 if one of them fails.`,
		Args: cli.NoArguments,
	}
	cmd.AddCommand(inFolder(test, func(cmd *cobra.Command, dir string, _ []string) error {
		_, s, err := loadSettings(cmd, dir)
		if err != nil {
			return err
		}
		note := notify.Note{Event: "test", Folder: dir, Title: notify.TitleOf(dir), Text: "this is how a loop calls you", Class: wire.ClassInfo}
		failed := 0
		say := func(way, off, well string, err error) {
			said := "✓ " + way + ": " + well
			switch {
			case off != "":
				said = "– " + way + ": " + off
			case err != nil:
				failed++
				said = "✗ " + way + ": " + wire.OneLine(err.Error())
			}
			fmt.Fprintln(cmd.OutOrStdout(), said)
		}
		for _, r := range notify.Test(cmd.Context(), s.Notify, terminal.NotifyAt(cmd.OutOrStdout(), nil), note) {
			say(r.Way, r.Off, "you are told", r.Err)
		}
		if len(s.Notify.Reply) == 0 {
			say("reply", "none is set", "", nil)
		} else {
			fmt.Fprintln(cmd.OutOrStdout(), "… reply: it asks you whether a loop may run echo hello; answer as you would")
			said, err := notify.TestReply(cmd.Context(), s.Notify.Reply, dir)
			say("reply", "", said, err)
		}
		if failed > 0 {
			return fmt.Errorf("%s failed, marked ✗ above", format.Counted(failed, "way"))
		}
		return nil
	}))
	return cmd
}
