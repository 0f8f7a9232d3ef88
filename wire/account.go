package wire

import (
	"fmt"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/account"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop"
)

// A receipt is read in half a minute: so many lines of the prompt, and so many things of a kind.
const (
	maxPrompt = 4
	maxOfKind = 4
)

// accountRows are the rows about what happened in a loop that ended. A row without a label continues the one above.
func accountRows(e loop.End) (rows []Detail) {
	if e.Reason.Ending().HandsOn {
		return nil // it isn't over
	}
	add := func(label string, lines ...string) {
		for _, line := range lines {
			rows = append(rows, Detail{label, line})
			label = ""
		}
	}
	add("Asked", askedLines(e.Prompt)...)
	if changed := ChangesText(e.Changes); changed != "" {
		add("Changed", changed)
	}
	a := e.Account
	if stuck := listLines(a.Stuck); len(stuck) > 0 {
		add("Not done", append(stuck, loop.StuckAdvice)...)
	}
	if e.Reason != loop.StopPromise {
		add("Promised", listLines(a.Missed)...)
	}
	add("Commits", listLines(a.Commits)...)
	if failed := listLines(a.Failures); len(failed) != 1 || failed[0] != Sentence(e.Problem()) {
		add("Failed", failed...)
	}
	add("Refused", listLines(a.Refused)...)
	add("No answer", listLines(a.Unanswered)...)
	add("Limits", listLines(a.Limits)...)
	add("Warned", listLines(a.Warnings)...)
	return rows
}

// askedLines are the beginning of a prompt, without empty lines.
func askedLines(prompt string) (lines []string) {
	left := 0
	for line := range strings.Lines(prompt) {
		switch line = OneLine(line); {
		case line == "":
		case len(lines) < maxPrompt:
			lines = append(lines, line)
		default:
			left++
		}
	}
	if left > 0 {
		lines = append(lines, "… "+format.Counted(left, "more line"))
	}
	return lines
}

// listLines are what there was of a kind, each with how often it came.
func listLines(l account.List) (lines []string) {
	more := l.More
	for i, it := range l.Items {
		line := Sentence(it.Text)
		if it.Count > 1 {
			line += fmt.Sprintf(" (%d times)", it.Count)
		}
		if i < maxOfKind {
			lines = append(lines, line)
		} else {
			more += it.Count
		}
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("… %d more", more))
	}
	return lines
}
