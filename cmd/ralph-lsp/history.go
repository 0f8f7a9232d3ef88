package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

func newHistory() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "history",
		Short: "List past loops, and show them",
		Long: `List the loops of the folder, the newest first. Each is kept as a session file that pi
itself can open and continue (pi --session FILE), in pi's own folder for the working
directory.`,
		Args: cli.UnknownCommand,
	}
	cmd.AddCommand(newHistoryShow())
	limit := cmd.Flags().Int("limit", 0, "show at most `N`; 0 shows all")
	asJSON := cmd.Flags().Bool("json", false, "print one JSON object per loop")
	return inFolder(cmd, func(cmd *cobra.Command, dir string, _ []string) error {
		out := cmd.OutOrStdout()
		sessions, err := local.History(service.HistoryRequest{Folder: dir, Limit: *limit})
		if err != nil {
			return err
		}
		if len(sessions) == 0 && !*asJSON {
			fmt.Fprintf(out, "no loops were kept of %s\n", terminal.Line(dir))
		}
		for _, s := range sessions {
			if *asJSON {
				terminal.WriteJSON(out, answers.PastIn(s))
			} else {
				terminal.PrintPast(out, terminal.PaletteFor(out), s)
			}
		}
		return nil
	})
}

func newHistoryShow() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show [FILE|LOOP]",
		Short: "Show what happened in a loop",
		Long: `Show a loop as it was seen live. Name it by its id, its branch or its session file.
Without an argument the folder's last loop is shown. With --receipt it is shown how it
ended: why, what it cost, what verified it, what it changed, what helps.`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeLoopOrFile,
	}
	style := start.Choice{Of: terminal.Styles}
	cmd.Flags().Var(&style, "output", terminal.StyleUsage)
	cli.CompleteWith(cmd, "output", terminal.Styles...)
	verbose := cmd.Flags().Bool("verbose", false, "show the model's reasoning too")
	receipt := cmd.Flags().Bool("receipt", false, "show how the loop ended, and nothing of what happened before")
	cmd.MarkFlagsMutuallyExclusive("receipt", "verbose")
	return inFolder(cmd, func(cmd *cobra.Command, dir string, args []string) error {
		if *receipt {
			return showReceipt(cmd, dir, args, style.Value == terminal.JSON)
		}
		path, err := sessionNamed(dir, args)
		if err != nil {
			return err
		}
		return showSession(cmd, path, style.Value, *verbose)
	})
}

// sessionNamed finds the session that the arguments name.
func sessionNamed(dir string, args []string) (string, error) {
	if len(args) == 1 {
		if _, err := os.Stat(args[0]); err == nil {
			return args[0], nil
		}
	}
	past, err := pastNamed(dir, args)
	if err != nil {
		return "", err
	}
	return past.SessionFile, nil
}

// pastNamed finds the loop that the arguments name by its id or its branch, without any the
// folder's last one.
func pastNamed(dir string, args []string) (*loop.Past, error) {
	name := strings.Join(args, "") // there is one at most
	switch past := loop.FindPast(dir, name); {
	case past != nil:
		return past, nil
	case name == "":
		return nil, fmt.Errorf("no loops were kept of %s; start one with ralph-lsp run", dir)
	}
	return nil, fmt.Errorf("there is no file and no loop %s; see ralph-lsp history", name)
}

// showReceipt shows how a past loop ended.
func showReceipt(cmd *cobra.Command, dir string, args []string, asJSON bool) error {
	past, err := pastNamed(dir, args)
	if err != nil {
		return err
	}
	end, ok := past.Ended()
	if !ok {
		return fmt.Errorf("the loop %s has no end yet; see ralph-lsp status", past.LoopID)
	}
	out := cmd.OutOrStdout()
	if asJSON {
		terminal.WriteJSON(out, terminal.ReceiptOf(end))
		return nil
	}
	p := terminal.PaletteFor(out)
	fmt.Fprintln(out, terminal.Wrapped(p.Bold("Ralph")+" "+p.Cyan(terminal.Line(terminal.TitleOf(end.Status))), terminal.LineWidth(out), 2))
	terminal.PrintReceipt(out, p, terminal.ReceiptOf(end))
	return nil
}

// showSession shows a session in a style. For programs it prints the updates that an editor
// would get.
func showSession(cmd *cobra.Command, path, style string, verbose bool) error {
	screen := terminal.ConfigOf(cmd.OutOrStdout(), cmd.OutOrStdout(), verbose) // what users said belongs to it
	viewer := terminal.New(style, screen)
	skipped := 0
	var err error
	for page, failed := range journal.Pages(cmd.Context(), journal.StoryOf("", path), "", journal.Options{Thinking: verbose}) {
		skipped, err = skipped+page.Skipped, failed
		for _, it := range page.Items {
			if style != terminal.JSON {
				viewer.Show(it, false)
			} else if _, err := fmt.Fprintf(terminal.Verbatim(cmd.OutOrStdout()), "%s\n", terminal.EscapeHidden(it.JSON)); err != nil {
				return fmt.Errorf("writing the updates: %w", err)
			}
		}
	}
	viewer.Close()
	if err != nil {
		return err
	}
	if skipped > 0 && style != terminal.JSON {
		fmt.Fprintf(cmd.ErrOrStderr(), "ralph-lsp: %s skipped\n", format.Counted(skipped, "broken line"))
	}
	return nil
}
