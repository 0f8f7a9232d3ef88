package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/cmd/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// byTerminal is who answers here.
const byTerminal = "terminal"

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
			for _, q := range st.Questions {
				for _, line := range append(wire.AskedLines(q, 0, ""), howToAnswer(q, dir)) {
					fmt.Fprintln(cmd.OutOrStdout(), line)
				}
			}
			if len(st.Questions) == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), "no agent asks anything")
			}
			return nil
		}
		q, a, err := wire.ReadAnswer(st.Questions, args, "ralph-lsp answer", byTerminal)
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

// maxAskLines is how many lines of a question are shown while a loop runs.
const maxAskLines = 40

// askLines are what an agent asks, as far as there is room for while a loop runs.
func askLines(q ask.Question) []string { return wire.AskedLines(q, maxAskLines, "ralph-lsp answer") }

// howToAnswer is the command line that answers.
func howToAnswer(q ask.Question, folder string) string {
	return fmt.Sprintf("  answer: ralph-lsp answer -C %s %s ... (%s)", shellWord(folder), plainLine(q.ID), wire.AnswersTo(q))
}

// ask tells a user of a question, and how to answer: right here, or in another terminal. A loop
// of the past has no folder, and nobody answers.
func (c styleConfig) ask(q ask.Question) []string {
	lines := askLines(q)
	switch {
	case c.folder == "":
		return lines
	case c.answers:
		return append(lines, "  "+wire.AnswersTo(q)+"?")
	}
	return append(lines, howToAnswer(q, c.folder))
}
