package wire

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/account"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Receipt is how a loop ended.
type Receipt struct {
	LoopID  string    `json:"loopId"`
	EndedAt time.Time `json:"endedAt,omitzero"`
	End
	Prompt   string          `json:"prompt,omitempty"` // the prompt, or most of it
	Account  account.Account `json:"account,omitzero"` // the failures, refusals and other events on its way
	Rows     []Detail        `json:"rows"`             // all that in words, for a table
	Commands []CommandLine   `json:"commands,omitempty"`
}

// InLines is a receipt for who reads it without a table.
func (r Receipt) InLines() string {
	var b strings.Builder
	for _, row := range r.Rows {
		if row.Label != "" {
			row.Label += ":"
		}
		fmt.Fprintln(&b, cmp.Or(row.Label, " "), row.Text)
	}
	for _, c := range r.Commands {
		fmt.Fprintf(&b, "%s  %s\n", c.Line, c.Text)
	}
	return b.String()
}

// CommandLine is a command line that helps, and what it does.
type CommandLine struct {
	Line string `json:"line"`
	Text string `json:"text"`
}

// verificationText says what a promise was verified by: it may be nothing.
func verificationText(e loop.End) string {
	switch {
	case e.Reason != loop.StopPromise:
		return ""
	case e.Guards != "":
		return "verified by what the loop changed: " + Sentence(e.Guards)
	case e.Verified != "":
		return "verified: " + Sentence(e.Verified)
	}
	return "nothing verified this"
}

// unchangedText says that a loop has worked and changed nothing.
func unchangedText(e loop.End) string {
	if e.Changes == nil || e.Changes.Files > 0 || e.Iterations == 0 || !e.Account.Commits.IsZero() {
		return ""
	}
	return "no file changed"
}

// InFolder is what a command line needs to be about a folder from anywhere.
func InFolder(folder string) string { return " -C " + format.ShellWord(folder) }

// ReceiptOf is the receipt of a loop's end. in is what a command line needs to be about the
// loop's folder, see InFolder.
func ReceiptOf(e loop.End, in string) Receipt {
	s := e.Status
	r := Receipt{
		LoopID: s.LoopID, EndedAt: history.TimeOf(s.EndedAt), End: projectEnd(e), Prompt: stream.Sanitize(e.Prompt),
		Account: sanitized(e.Account),
		Rows:    []Detail{}, Commands: CommandsAfter(e, in),
	}
	add := func(label, text string) {
		if text != "" {
			r.Rows = append(r.Rows, Detail{label, text})
		}
	}
	add("Ended", endedText(r.EndedAt))
	add("Result", EndLine(e))
	add("Problem", Sentence(e.Problem()))
	add("Plan", planRow(TasksOf(s)))
	r.Rows, r.Receipt = append(r.Rows, accountRows(e)...), nil
	if s.GivenUp && e.Reason.Ending().Kept {
		add("Goes on", "no: it was discarded, or another loop was started here")
	}
	return r
}

// endedText is when a loop ended: the day too, where it was another one.
func endedText(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Local().Format(time.DateTime)
}

// CommandsAfter are the command lines that help after a loop's end.
func CommandsAfter(e loop.End, in string) (lines []CommandLine) {
	add := func(line, text string) { lines = append(lines, CommandLine{"ralph-lsp " + line, text}) }
	s, ending := e.Status, e.Reason.Ending()
	if s.CanGoOn() {
		resume := "resume" + in
		if limit, ok := limits.ByName(ending.Limit); ok && e.Reason.Capped() {
			change, _ := s.Limits.Raise(ending.Limit, usedBy(s))
			resume += " --" + limit.Flag + " " + limit.Text(change.Over(s.Limits))
		}
		goesOn := "goes on"
		if promise := loop.UnsetPromise(s.Promise, e.Account); promise != "" {
			resume += " --completion-promise " + format.ShellWord(promise)
			goesOn = "goes on, and takes the promise that the agent made"
		}
		add(resume, goesOn)
		add("cancel"+in, "discards it")
	}
	if ChangesText(e.Changes) != "" {
		add("changes"+in, "shows what it changed")
		add("undo"+in+" --since 1", "takes that back")
	}
	if t := s.Worktree; t != nil {
		add("land "+format.ShellWord(t.Branch), "lands its work on your branch")
	}
	return lines
}

// NowText says since when a loop's iteration and its tool run: "iteration 3 for 2m10s, bash
// go test for 12s"; "" where that isn't known.
func NowText(s loop.Status, now time.Time) string {
	since := func(what string, at time.Time) string {
		return what + " for " + format.Elapsed(max(now.Sub(at), 0).Truncate(time.Second))
	}
	if s.State != loop.StateRunning || s.IterationStartedAt.IsZero() {
		return ""
	}
	text := since(fmt.Sprintf("iteration %d", s.Iteration), s.IterationStartedAt)
	if s.Tool != nil && !s.Tool.StartedAt.IsZero() {
		text += ", " + since(CallTitle(s.Tool.Call), s.Tool.StartedAt)
	}
	return text
}

// StandText says in one line how a loop stands, or ended.
func StandText(s loop.Status, now time.Time) string {
	l := StatusOf(s, false)
	switch {
	case l.Live:
		return Line(s, nil, now)
	case s.Last != nil && !IsLeft(l):
		return l.Last.Text
	}
	return l.Text
}
