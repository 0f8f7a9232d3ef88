package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ralph-lsp/loop"
	"ralph-lsp/stream"
	"ralph-lsp/wire"
)

// byTerminal is who answers here.
const byTerminal = "terminal"

func newAnswer() *cobra.Command {
	var takeBack string
	cmd := &cobra.Command{
		Use:   "answer [ID] [deny|once|loop|VALUE] [WORDS...]",
		Short: "Answer what an agent of the loop asks",
		Long: `Answer what an agent asks that waits for you (permissions = "ask"). Without an answer it
shows what is open. Words behind deny are for the agent. once allows it this time, loop
all that its rule says for as long as the loop lasts. Without an ID the only open
question is meant.`,
		Example: `  ralph-lsp answer
  ralph-lsp answer deny "Leave that file alone"
  ralph-lsp answer q2kxw once`,
		Annotations: map[string]string{takesText: "answer"},
	}
	inFolder(cmd, func(cmd *cobra.Command, dir string, args []string) error {
		if takeBack != "" {
			if err := loop.DisallowFolder(dir, "", takeBack); err != nil {
				return orLeft(dir, err)
			}
			fmt.Fprintln(cmd.OutOrStdout(), wire.DisallowedText([]string{takeBack}))
			return nil
		}
		st, _, owned, err := loop.FolderStatus(dir)
		if err != nil || !owned {
			return orLeft(dir, errors.Join(err, loop.ErrNotRunning))
		}
		if len(args) == 0 {
			for _, q := range st.Questions {
				for _, line := range append(askLines(q, 0), howToAnswer(q, dir)) {
					fmt.Fprintln(cmd.OutOrStdout(), line)
				}
			}
			if len(st.Questions) == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), "no agent asks anything")
			}
			return nil
		}
		q, a, err := answerOf(st.Questions, args)
		if err == nil {
			err = loop.AnswerFolder(dir, q.ID, a)
		}
		if err != nil {
			return orLeft(dir, err)
		}
		fmt.Fprintln(cmd.OutOrStdout(), wire.AnsweredText(q, a))
		return nil
	})
	cmd.Flags().StringVar(&takeBack, "take-back", "", "the `RULE` that allows no longer what it did, as status shows it")
	return cmd
}

// answerOf reads an answer to one of the questions that are open.
func answerOf(open []loop.Question, words []string) (q loop.Question, a loop.Answer, err error) {
	i := slices.IndexFunc(open, func(q loop.Question) bool { return q.ID == words[0] })
	switch {
	case i >= 0:
		words = words[1:]
	case len(open) == 0:
		return q, a, loop.ErrNoQuestion
	case len(open) > 1:
		return q, a, fmt.Errorf("%d questions are open: say which one is meant, as in ralph-lsp answer %s deny", len(open), open[0].ID)
	default:
		i = 0
	}
	q = open[i]
	a = loop.Answer{Kind: loop.AnswerValue, Text: strings.Join(words, " "), By: byTerminal}
	if len(words) == 0 {
		return q, a, fmt.Errorf("the answer is missing: %s", answersTo(q))
	}
	first := strings.ToLower(words[0])
	isOneOf := func(all ...string) bool { return slices.Contains(all, first) }
	isYesNo := q.Kind == loop.AskPermission || q.Kind == loop.AskConfirm
	switch {
	case first == loop.AnswerDeny, isYesNo && isOneOf("d", "n", "no"):
		a.Kind, a.Text = loop.AnswerDeny, strings.Join(words[1:], " ")
	case isYesNo && len(words) == 1 && isOneOf(loop.AnswerOnce, "o", "y", "yes"):
		a.Kind, a.Text = loop.AnswerOnce, ""
	case isYesNo && len(words) == 1 && isOneOf(loop.AnswerLoop, "l"):
		a.Kind, a.Text = loop.AnswerLoop, ""
	case isYesNo:
		return q, a, fmt.Errorf("%q is no answer: %s", strings.Join(words, " "), answersTo(q))
	case q.Kind == loop.AskSelect:
		if n, err := strconv.Atoi(a.Text); err == nil && n >= 1 && n <= len(q.Options) && !slices.Contains(q.Options, a.Text) {
			a.Text = q.Options[n-1]
		}
	}
	return q, a, nil
}

// answersTo says how a question can be answered, the safe way first.
func answersTo(q loop.Question) string {
	switch {
	case q.Kind == loop.AskSelect:
		return "deny, or a number"
	case q.Kind == loop.AskInput:
		return "deny, or a text"
	case q.Rule != "":
		return "deny [words for the agent], once, loop (" + plainLine(q.Rule) + ")"
	}
	return "deny [words for the agent], once"
}

// maxAskLines is how many lines of a question are shown while a loop runs.
const maxAskLines = 40

// askLines are what an agent asks, with all of the command or the diff, but for what is
// behind a number of lines; 0: all.
func askLines(q loop.Question, limit int) []string {
	lines := []string{wire.AsksText(q) + " [" + plainLine(q.ID) + "]"}
	detail := strings.Split(strings.TrimRight(stream.Plain(q.Detail), "\n"), "\n")
	if len(detail) == 1 && (detail[0] == "" || strings.HasSuffix(q.Title, detail[0])) {
		detail = nil
	}
	for i, line := range detail {
		if limit > 0 && i == limit {
			lines = append(lines, fmt.Sprintf("  ... %d more lines, see ralph-lsp answer", len(detail)-i))
			break
		}
		lines = append(lines, "  "+line)
	}
	for i, option := range q.Options {
		lines = append(lines, fmt.Sprintf("  %d: %s", i+1, plainLine(option)))
	}
	return lines
}

// howToAnswer is the command line that answers.
func howToAnswer(q loop.Question, folder string) string {
	return fmt.Sprintf("  answer: ralph-lsp answer -C %s %s ... (%s)", shellWord(folder), plainLine(q.ID), answersTo(q))
}

// ask tells a user of a question, and how to answer: right here, or in another terminal. A loop
// of the past has no folder, and nobody answers.
func (c styleConfig) ask(q loop.Question) []string {
	lines := askLines(q, maxAskLines)
	switch {
	case c.folder == "":
		return lines
	case c.answers:
		return append(lines, "  "+answersTo(q)+"?")
	}
	return append(lines, howToAnswer(q, c.folder))
}
