package terminal

import (
	"fmt"

	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// ByTerminal is who answers here.
const ByTerminal = "terminal"

// maxAskLines is how many lines of a question are shown while a loop runs.
const maxAskLines = 40

// askLines are what an agent asks, as far as there is room for while a loop runs.
func askLines(q ask.Question) []string { return wire.AskedLines(q, maxAskLines, "ralph-lsp answer") }

// HowToAnswer is the command line that answers.
func HowToAnswer(q ask.Question, folder string) string {
	return fmt.Sprintf("  answer: ralph-lsp answer -C %s %s ... (%s)", ShellWord(folder), Line(q.ID), wire.AnswersTo(q))
}

// ask tells a user of a question, and how to answer: right here, or in another terminal. A loop
// of the past has no folder, and nobody answers.
func (c Config) ask(q ask.Question) []string {
	lines := askLines(q)
	switch {
	case c.Folder == "":
		return lines
	case c.Answers:
		return append(lines, "  "+wire.AnswersTo(q)+"?")
	}
	return append(lines, HowToAnswer(q, c.Folder))
}
