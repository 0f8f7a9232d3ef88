package wire

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// detailsOf returns the facts about a loop besides its state. An unknown one has no row.
func detailsOf(l LoopStatus, s loop.Status) []Detail {
	var rows []Detail
	add := func(label, text string) {
		if text != "" {
			rows = append(rows, Detail{label, text})
		}
	}
	add("Agent", SessionText(s.Session))
	add("Plan", planRow(l.Tasks))
	add("Walls", sandboxRow(s.Sandbox))
	if t := s.Worktree; t != nil {
		add("Worktree", JoinFacts(Sentence(t.Branch), Sentence(t.Path)))
	}
	add("Left running", LeftRunningText("", s.LeftRunning))
	add("Hat", l.Hat)
	add("At work", agentsRow(l.Agents))
	add("Asks", strings.TrimPrefix(questionsText(l.Questions, time.Time{}), "asks: "))
	add("Until", untilText(l))
	add(labelCommand, helpingCommand(s))
	add("Guidance", standingText(s.Standing))
	add("Notes", Sentence(s.Notes))
	add("Allowed", JoinFacts(s.Allowed...))
	add("Cost", l.CostText)
	add("Hats", hatsText(s.Hats, true))
	add("Limits", JoinFacts(l.LimitTexts...))
	add("Work", workText(s))
	add("No progress", stagnationText(s))
	add("Tokens", tokensText(l.Tokens))
	add("Context", contextText(l.Context))
	add("Quota", quotaText(l.Quota))
	if add("Error", Sentence(l.Error)); !strings.Contains(l.Error, s.Cause) {
		add("Cause", Sentence(s.Cause))
	}
	return rows
}

// untilText says until when a loop waits for its user, and what happens then.
func untilText(l LoopStatus) string {
	switch {
	case l.Deadline.IsZero():
		return ""
	case slices.ContainsFunc(l.Questions, func(q Question) bool { return !q.Until.IsZero() }):
		return clock(l.Deadline) + ": then the answer is no"
	}
	return clock(l.Deadline) + ": then it ends if nobody looks at it, and can be resumed"
}

// labelCommand is the label of a row with a command line.
const labelCommand = "Command"

// helpingCommand returns the command line that helps a loop that pauses or waits for its user; "" while it works.
func helpingCommand(s loop.Status) string {
	in := InFolder(s.Folder)
	switch {
	case s.State.Over():
		return "" // its receipt has them
	case len(s.Questions) > 0:
		return "ralph-lsp answer" + in
	case s.State == loop.StatePaused && s.Unchecked != "":
		return "ralph-lsp resume" + in + " tries again; with --accept it believes the promise"
	case s.State == loop.StatePaused:
		return "ralph-lsp resume" + in
	case s.State == loop.StateWaiting:
		return "ralph-lsp resume" + in + " tries now"
	}
	return ""
}

// standingText lists what each run is told, with the numbers by which it is taken back.
func standingText(texts []string) string {
	var rows []string
	for i, text := range texts {
		rows = append(rows, fmt.Sprintf("%d: %s", i+1, Sentence(text)))
	}
	return JoinFacts(rows...)
}

// workText is the working time of a loop, of its limit: "12m00s of 4h". Waits and pauses don't count.
func workText(s loop.Status) string {
	switch {
	case s.Elapsed < time.Second:
		return ""
	case s.Limits.MaxDuration == 0:
		return format.Elapsed(s.Elapsed.Truncate(time.Second))
	}
	return format.Elapsed(s.Elapsed.Truncate(time.Second)) + " of " + format.Duration(s.Limits.MaxDuration)
}

// stagnationText is how many runs in a row have brought nothing new, of how many may.
func stagnationText(s loop.Status) string {
	if s.NoProgress == 0 || s.Limits.MaxUnchanged == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s", s.NoProgress, format.Counted(s.Limits.MaxUnchanged, "iteration"))
}

func tokensText(t stream.Tokens) string {
	if t == (stream.Tokens{}) {
		return ""
	}
	return fmt.Sprintf("%s in, %s out, %s cached", format.Tokens(t.Input), format.Tokens(t.Output), format.Tokens(t.CacheRead))
}

func contextText(c *Context) string {
	switch {
	case c == nil:
		return ""
	case c.Size == 0:
		return format.Tokens(c.Used)
	}
	return format.Tokens(c.Used) + " of " + format.Tokens(c.Size)
}

func quotaText(windows []stream.Quota) string {
	var used []string
	for _, w := range windows {
		used = append(used, fmt.Sprintf("%s %.0f %%", strings.ReplaceAll(w.Window, "_", " "), 100*w.Utilization))
	}
	return JoinFacts(used...)
}
