package answers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// AnswerOf is what a person is told of a command's result, in an editor that shows
// no results. It may have several lines. Nothing is said of what is told otherwise
// (a start, the end of a loop), and of what is for programs (read, file).
func AnswerOf(result any) wire.Notice {
	switch r := result.(type) {
	case wire.LoopResult:
		return wire.Info(r.Text)
	case wire.SteerResult:
		return wire.Info(r.Text)
	case wire.AnswerResult:
		return wire.Notice{Text: r.Text, Class: r.Class}
	case wire.SlashResult:
		if r.HelpResult != nil {
			return wire.Info(r.Markdown)
		}
		if r.LoopResult != nil {
			return wire.Info(r.LoopResult.Text)
		}
	case wire.StatusResult:
		return statusAnswer(r)
	case HistoryResult:
		return listed("no loop has ended here", "loop", r.Loops, func(l PastLoop) string { return wire.OneLine(l.Title) + ": " + l.Text })
	case DryRunResult:
		return previewAnswer(r)
	case PromptsResult:
		return listed("no loop was started here yet", "prompt", r.Prompts, func(p PastPrompt) string { return p.Title })
	case ChangesResult:
		return wire.Notice{Text: withRows(r.Text, r.Files,
			func(f ChangedFile) string { return wire.OneLine(f.Path) + " " + f.Text }), Class: r.Class}
	case UndoResult:
		return wire.Notice{Text: withRows(r.Text, r.Refused, func(f RefusedFile) string { return f.Text }), Class: r.Class}
	case LandResult:
		return wire.Notice{Text: r.Text, Class: r.Class}
	case HatsResult:
		return listed("no hat is described here", "hat", r.Hats, func(h HatInfo) string { return strings.TrimSuffix(h.Name+": "+h.Text, ": ") })
	case AgentsResult:
		return listed("no agent is known", "agent", r.Agents, func(a AgentInfo) string { return a.Text })
	case FetchResult:
		return wire.Notice{Text: r.Text, Class: r.Class}
	case OutputResult:
		return wire.Info(r.Text)
	case SandboxResult:
		return wire.Info(r.Text)
	case KeepResult:
		return wire.Info(r.Text)
	case PlanResult:
		return wire.Info("to plan, run in a terminal in " + wire.OneLine(r.Cwd) + ": " + wire.OneLine(strings.Join(format.Masked(r.Argv), " ")))
	case DoctorResult:
		return doctorAnswer(r)
	case wire.HelpResult:
		return wire.Info(r.Markdown)
	}
	return wire.Notice{}
}

// maxRows is how many rows an answer has: it is shown in a corner of the screen.
const maxRows = 10

// withRows is a text with a line for each of the first items. An editor that shows
// all in one line shows the dots between them.
func withRows[T any](text string, items []T, row func(T) string) string {
	for i, item := range items {
		if i == maxRows {
			return text + fmt.Sprintf("\n · and %d more", len(items)-i)
		}
		text += "\n · " + row(item)
	}
	return text
}

// listed has a line for each of the first items, or says that there are none.
func listed[T any](none, noun string, items []T, row func(T) string) wire.Notice {
	switch len(items) {
	case 0:
		return wire.Info(none)
	case 1:
		return wire.Info(row(items[0]))
	}
	return wire.Info(withRows(format.Counted(len(items), noun), items, row))
}

// previewAnswer says what would run, and what keeps it from doing so.
func previewAnswer(r DryRunResult) wire.Notice {
	said := wire.Notice{Class: wire.ClassInfo}
	var rows []string
	for _, problem := range r.Problems {
		rows = append(rows, "It can't start: "+problem.Text)
		said.Class = problem.Class
	}
	rows = append(rows, r.Warnings...)
	for _, row := range r.Details {
		rows = append(rows, row.Label+": "+row.Text)
	}
	said.Text = withRows("would run "+r.Text, rows, func(row string) string { return row })
	return said
}

func statusAnswer(r wire.StatusResult) wire.Notice {
	said := listed(wire.NothingRuns, "loop", r.Loops, func(l wire.LoopStatus) string { return wire.OneLine(l.Title) + ": " + l.Line })
	if len(r.Loops) == 1 {
		said.Class = r.Loops[0].Class
	}
	return said
}

// doctorAnswer is the verdict, and what keeps loops from running.
func doctorAnswer(r DoctorResult) wire.Notice {
	bad := slices.DeleteFunc(slices.Clone(r.Checks), func(c Check) bool { return c.OK || c.Optional })
	return wire.Notice{Class: r.Class, Text: withRows(r.Text, bad, func(c Check) string {
		if c.Fix == "" {
			return c.Message
		}
		return c.Message + ": " + c.Fix
	})}
}
