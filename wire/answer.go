package wire

import (
	"fmt"
	"strings"
)

// AnswerOf is what a person is told of a command's result, in an editor that shows
// no results. It may have several lines. Nothing is said of what is told otherwise
// (a start, the end of a loop), and of what is for programs (read, file).
func AnswerOf(result any) Said {
	switch r := result.(type) {
	case LoopResult:
		return info(r.Text)
	case SteerResult:
		return info(r.Text)
	case SlashResult:
		if r.HelpResult != nil {
			return info(r.Markdown)
		}
		if r.LoopResult != nil {
			return info(r.LoopResult.Text)
		}
	case StatusResult:
		return statusAnswer(r)
	case HistoryResult:
		return listed("no loop has ended here", r.Loops, func(l PastLoop) string { return OneLine(l.Title) + ": " + l.Text })
	case DryRunResult:
		return previewAnswer(r)
	case PromptsResult:
		return listed("no loop was started here yet", r.Prompts, func(p PastPrompt) string { return p.Title })
	case ChangesResult:
		return Said{Text: withRows(r.Text, r.Files, func(f ChangedFile) string { return OneLine(f.Path) + " " + f.Text }), Class: r.Class}
	case UndoResult:
		return Said{Text: withRows(r.Text, r.Refused, func(f RefusedFile) string { return f.Text }), Class: r.Class}
	case KeepResult:
		return info(r.Text)
	case PlanResult:
		return info("to plan, run in a terminal in " + OneLine(r.Cwd) + ": " + OneLine(strings.Join(r.Argv, " ")))
	case DoctorResult:
		return doctorAnswer(r)
	case HelpResult:
		return info(r.Markdown)
	}
	return Said{}
}

// maxRows is how many rows an answer has: it is shown in a corner of the screen.
const maxRows = 10

// withRows is a text with a line for each of the first items.
func withRows[T any](text string, items []T, row func(T) string) string {
	lines := []string{text}
	for i, item := range items {
		if i == maxRows {
			lines = append(lines, fmt.Sprintf("and %d more", len(items)-i))
			break
		}
		lines = append(lines, row(item))
	}
	return strings.Join(lines, "\n")
}

// listed is a line for each of the first items, or what is said of none.
func listed[T any](none string, items []T, row func(T) string) Said {
	if len(items) == 0 {
		return info(none)
	}
	return info(strings.TrimPrefix(withRows("", items, row), "\n"))
}

// previewAnswer says what would run, and what keeps it from doing so.
func previewAnswer(r DryRunResult) Said {
	said := Said{Class: ClassInfo}
	lines := []string{"would run " + r.Text}
	for _, row := range r.Details {
		lines = append(lines, row.Label+": "+row.Text)
	}
	for _, problem := range r.Problems {
		lines = append(lines, "It can't start: "+problem.Text)
		said.Class = problem.Class
	}
	said.Text = strings.Join(append(lines, r.Warnings...), "\n")
	return said
}

func statusAnswer(r StatusResult) Said {
	said := listed("no loop is running here", r.Loops, func(l LoopStatus) string {
		return OneLine(l.Title) + ": " + l.Line
	})
	if len(r.Loops) == 1 {
		said.Class = r.Loops[0].Class
	}
	return said
}

// doctorAnswer names what keeps loops from running, or says that nothing does.
func doctorAnswer(r DoctorResult) Said {
	var bad []Check
	good := "loops can run here"
	for _, c := range r.Checks {
		if !c.OK && !c.Optional {
			bad = append(bad, c)
		} else if c.ID == "backend" {
			good += ": " + c.Message
		}
	}
	if len(bad) == 0 {
		return Said{Text: good, Class: ClassOK}
	}
	said := listed("", bad, func(c Check) string {
		if c.Fix == "" {
			return c.Message
		}
		return c.Message + ": " + c.Fix
	})
	said.Class = ClassError
	return said
}
