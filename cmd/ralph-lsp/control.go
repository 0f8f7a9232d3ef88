package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// ofDriver is a command that asks whoever drives a loop, an editor or another terminal, for
// something, and prints what comes of it.
func ofDriver(use, short, long string, ask service.Command, more string) *cobra.Command {
	cmd := &cobra.Command{Use: use + " [LOOP]", Short: short, Long: long, Args: oneLoop}
	return ofLoop(cmd, func(cmd *cobra.Command, at target, _ []string) error {
		done, err := at.ask(ask)
		if err == nil {
			fmt.Fprintln(cmd.OutOrStdout(), done.Text+more)
		}
		return err
	})
}

func newPause() *cobra.Command {
	return ofDriver("pause", "Pause the loop after this iteration", "", service.Pause{}, "; "+terminal.GoOn)
}

// newNext ends the iteration under way, and no other.
func newNext() *cobra.Command {
	return ofDriver("next", "End this iteration now and begin the next", "", service.Next{}, "")
}

func newDetach() *cobra.Command {
	return ofDriver("detach", "Let a loop go on alone, without its window", `Let a loop that runs in another terminal or in an editor go on without its window,
which may then be closed: the loop ends with its limits, its promise or ralph-lsp
cancel. The window of a terminal ends at once; an editor goes on showing the loop.`, service.Detach{}, "")
}

func newCancel() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cancel [LOOP]",
		Short: "End the loop in the folder now",
		Long: "End the loop in the folder: its agent, everything that it started, and its state file.\nA loop that no process " +
			"drives, and that could be resumed, is discarded.",
		Args: oneLoop,
	}
	return ofLoop(cmd, func(cmd *cobra.Command, at target, _ []string) error { return cancelLoop(cmd, at) })
}

// cancelLoop ends the loop in a folder, or discards it, and says so.
func cancelLoop(cmd *cobra.Command, at target) error {
	before, _ := loop.FolderStatus(at.dir)
	iteration, err := at.cancel(cmd.Context())
	switch {
	case errors.Is(err, loop.ErrNotRunning):
		fmt.Fprintf(cmd.OutOrStdout(), "no loop is running in %s\n", terminal.Line(at.dir))
		return nil
	case errors.As(err, new(*loopstate.SyntaxError)):
		return fmt.Errorf("%w (or delete the file, which discards the loop)", err)
	case err != nil:
		return err
	}
	done := "cancelled"
	if before.State == loop.StateEnded {
		done = "discarded"
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s the loop (was at iteration %d)\n", done, iteration)
	return nil
}

// newSteer only queues the text in the state file, so that the user can still change it there
// before an agent has read it.
func newSteer() *cobra.Command {
	var said loop.Steering
	cmd := &cobra.Command{
		Use:   "steer [--next] [--once] [LOOP] [--] TEXT...",
		Short: "Tell the loop something",
		Long: `Tell the loop something: each run from now on, until you take it back. ralph-lsp status
lists it with numbers. In a live loop, pi and claude read it at their next step, too
(docs/BACKENDS.md). With --once only that step, or else the next run, is told.`,
		Example: `  ralph-lsp steer "Leave the parser alone, fix the tests first"
  ralph-lsp steer --once "Begin with lexer_test.go"
  ralph-lsp steer --forget 1`,
		Annotations: map[string]string{cli.TakesText: "text"},
	}
	cmd.Flags().BoolVar(&said.Next, "next", false, "tell the next run, not the one that is under way")
	cmd.Flags().BoolVar(&said.Once, "once", false, "tell one run, and no later one")
	cmd.Flags().IntVar(&said.Forget, "forget", 0, "take back what status lists as the `N`th")
	return ofLoop(cmd, func(cmd *cobra.Command, at target, args []string) error {
		said.Text = strings.TrimSpace(strings.Join(args, " "))
		if forgets := cmd.Flags().Changed("forget"); forgets == (said.Text != "") || forgets && said.Forget < 1 {
			return errors.New(`write ralph-lsp steer "...", or --forget N with a number that ralph-lsp status lists and no text`)
		}
		done, err := at.ask(service.Steer{Steering: said})
		if err == nil {
			fmt.Fprintln(cmd.OutOrStdout(), done.Text)
		}
		return err
	})
}

func newUpdate() *cobra.Command {
	var change start.Options
	cmd := &cobra.Command{
		Use:   "update [LOOP]",
		Short: "Change limits or the promise of the loop while it runs",
		Long: `Change limits or the promise of the loop in the folder. They count at once;
what you leave out stays as it is. To change the prompt, edit the state file.`,
		Example: `  ralph-lsp update --completion-promise DONE
  ralph-lsp update --max-iterations 100 --max-cost 7.50`,
		Args: oneLoop,
	}
	start.AddLimits(cmd.Flags(), &change)
	cmd.Flags().VisitAll(func(f *pflag.Flag) { f.DefValue = "" }) // without a flag nothing changes
	return ofLoop(cmd, func(cmd *cobra.Command, at target, _ []string) error {
		patch := change.Patch()
		if patch == (loop.Patch{}) {
			return errors.New("there is nothing to change; say what, as in ralph-lsp update --completion-promise DONE")
		}
		done, err := at.ask(service.Update{Patch: patch})
		if err == nil {
			fmt.Fprintln(cmd.OutOrStdout(), "changed; it counts at once: "+terminal.Line(done.Text))
		}
		return err
	})
}

func newAnswer() *cobra.Command {
	var takeBack string
	cmd := &cobra.Command{
		Use:   "answer [LOOP] [ID] [deny|once|loop|VALUE] [WORDS...]",
		Short: "Answer what an agent of the loop asks",
		Long: `Answer an agent that waits for you (permissions = "ask"). Without an answer, show what
is open. deny refuses, and words behind it are for the agent. once allows it this time.
loop allows all that its rule covers, for as long as the loop lasts. An ID is needed
only where more than one question is open.`,
		Example: `  ralph-lsp answer
  ralph-lsp answer deny "Leave that file alone"
  ralph-lsp answer q2kxw once`,
		Annotations: map[string]string{cli.TakesText: "answer"},
	}
	cmd.Flags().StringVar(&takeBack, "take-back", "", "withdraw the `RULE` of an earlier answer; status shows the rules")
	return ofLoop(cmd, func(cmd *cobra.Command, at target, args []string) error {
		dir := at.dir
		if takeBack != "" {
			done, err := at.ask(service.Update{Disallow: []string{takeBack}})
			if err == nil {
				fmt.Fprintln(cmd.OutOrStdout(), done.Text)
			}
			return err
		}
		st, err := loop.FolderStatus(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && st.Owner == nil:
			return orLeft(dir, loop.ErrNotRunning)
		case err != nil:
			return err
		}
		if len(args) == 0 {
			terminal.PrintQuestions(cmd.OutOrStdout(), st.Questions, terminal.AnswerIn(dir))
			if len(st.Questions) == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), "no agent asks anything")
			}
			return nil
		}
		q, a, err := answers.ReadAnswer(st.Questions, args, "ralph-lsp answer", terminal.ByTerminal)
		if err != nil {
			return err
		}
		done, err := at.ask(service.Answer{Question: q, Said: a})
		if err == nil {
			fmt.Fprintln(cmd.OutOrStdout(), done.Text)
		}
		return err
	})
}
