package loop

import (
	"github.com/ralph-lsp/ralph-lsp/internal/account"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/plan"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
)

// maxPrompt is how much of a prompt is kept with a loop's end.
const maxPrompt = 32 << 10

// CutOff is the failure of an iteration whose loop nobody drove any more.
const CutOff = "cut off, as the process that drove the loop died; costs that the agent hadn't reported are unknown"

// Count takes an event into the account of its loop.
func Count(a *account.Account, e Event) {
	switch e := e.(type) {
	case Warning:
		a.Warnings.Add(OneLine(e.Message))
	case LimitsChanged:
		a.Limits.Add(e.Text())
	case IterationEnd:
		a.Refused.Add(denied(e.Denials)...)
		a.Commits.Add(e.Commits...)
		if e.Outcome == OutcomeError || e.Outcome == OutcomeTimeout {
			a.Failures.Add(OneLine(e.Error))
		}
	case Verify:
		if e.State == verify.Refuted {
			a.Failures.Add(OneLine("refuted: " + e.Command + " " + e.Why))
		}
	case Answered:
		if e.By == ask.ByTimeout {
			a.Unanswered.Add(OneLine(e.Question.Title))
		}
	}
}

// AccountFor adds to how a loop ended what was asked and what it met on its way.
func (e *End) AccountFor(prompt string, tasks plan.Book, a account.Account) {
	e.Prompt, _, _ = format.Excerpt(prompt, maxPrompt)
	for _, q := range e.Unanswered {
		a.Unanswered.Add(OneLine(q.Title))
	}
	for _, stuck := range tasks.Stuck() {
		a.Stuck.Add(OneLine(stuck.String()))
	}
	e.Account = a
}
