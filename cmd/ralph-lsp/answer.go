package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/cmd/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

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
	ofLoop(cmd, func(cmd *cobra.Command, at place, args []string) error {
		dir := at.dir
		if takeBack != "" {
			if err := at.loop().Disallow(takeBack); err != nil {
				return orLeft(dir, err)
			}
			fmt.Fprintln(cmd.OutOrStdout(), wire.DisallowedText([]string{takeBack}))
			return nil
		}
		st, _, owned, err := loop.FolderStatus(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && !owned:
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
		if err == nil {
			err = at.loop().Answer(q.ID, a)
		}
		if err != nil {
			return orLeft(dir, err)
		}
		fmt.Fprintln(cmd.OutOrStdout(), wire.AnsweredText(q, a))
		return nil
	})
	cmd.Flags().StringVar(&takeBack, "take-back", "", "withdraw the `RULE` of an earlier answer; status shows the rules")
	return cmd
}
