package terminal

import (
	"cmp"
	"fmt"
	"io"

	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// ByTerminal is who answers here.
const ByTerminal = "terminal"

// maxAskLines is how many lines of a question are shown while a loop runs.
const maxAskLines = 40

// AnswerCommand is the command that answers the loops of this machine.
const AnswerCommand = "ralph-lsp answer"

// AnswerIn is the command line that answers the loop in a folder, up to the question.
func AnswerIn(folder string) string { return AnswerCommand + " -C " + ShellWord(folder) }

// PrintQuestions shows what is open, and how a command answers it.
func PrintQuestions(out io.Writer, open []ask.Question, command string) {
	for _, q := range open {
		for _, line := range append(answers.AskedLines(q, 0, ""), howToAnswer(q, command)) {
			fmt.Fprintln(out, line)
		}
	}
}

// howToAnswer is the command line that answers a question.
func howToAnswer(q ask.Question, command string) string {
	return fmt.Sprintf("  answer: %s %s ... (%s)", command, Line(q.ID), answers.AnswersTo(q))
}

// ask tells a user of a question, and how to answer: right here, or in another terminal. A loop
// of the past has no command, and nobody answers.
func (c Config) ask(q ask.Question) []string {
	lines := answers.AskedLines(q, maxAskLines, cmp.Or(c.Asks, AnswerCommand))
	switch {
	case c.Answer == "":
		return lines
	case c.Answers:
		return append(lines, "  "+answers.AnswersTo(q)+"?")
	}
	return append(lines, howToAnswer(q, c.Answer))
}
