package wire

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Sentence is a text that was written by the loop, in one line.
func Sentence(text string) string { return strings.Join(strings.Fields(stream.Sanitize(text)), " ") }

// Whole is a text in one line that is cut late, at 1000 characters: half a command line or problem is of no use.
func Whole(text string) string { return stream.Line(text, 1000) }

// These write what the editors and the terminal say in the same words.

// JoinFacts puts the facts that aren't empty between dots.
func JoinFacts(facts ...string) string {
	said := slices.DeleteFunc(slices.Clone(facts), func(fact string) bool { return fact == "" })
	return strings.Join(said, " · ")
}

// Line says in one line where a loop stands and what it does right now, for a
// status bar: "3/50 · $1.42 · bash go test ./...". problem is the last failure;
// now is as in WaitText.
func Line(s loop.Status, problem *string, now time.Time) string {
	pausing := ""
	if s.Pausing {
		pausing = pausingText(max(s.Iteration, 1))
	}
	return stream.Sanitize(JoinFacts(position(s.Hat, s.Iteration, s.Limits.MaxIterations), TasksText(TasksOf(s)),
		CostText(s.Cost, s.UnknownCosts), sandboxText(s.Sandbox), aloneText(s), RefutedText(s.Refuted), pausing, Activity(s, problem, now)))
}

// Activity is what a loop does right now; now is as in WaitText.
func Activity(s loop.Status, problem *string, now time.Time) string {
	switch {
	case s.Suspended > 0:
		return suspendedText(s)
	case s.State == loop.StateStarting:
		return JoinFacts(s.Session.Backend, "starting")
	case s.State == loop.StatePaused:
		return pausedText(conditionOf(s).Pause)
	case s.State == loop.StateCancelling:
		return "stopping"
	case len(s.Questions) > 0:
		return questionsText(questionsOf(s), conditionOf(s).Deadline)
	case s.Retry != nil:
		return JoinFacts(WaitText(s.Retry.Reason, s.Retry.ResumeAt, now), problemText(problem))
	case s.Tool != nil:
		if _, isAgent := s.Tool.Call.Subagent(); isAgent && len(s.Agents.Outermost()) == 1 || s.Tool.Call.ID == loop.CheckCallID {
			return toolText(*s.Tool, now) // which names it
		}
		return JoinFacts(agentsText(s.Agents), toolText(*s.Tool, now))
	case problem != nil:
		return problemText(problem)
	case !s.SilentSince().IsZero():
		return SilentText(s.LastSign, now)
	case len(s.Agents) > 0:
		return agentsText(s.Agents)
	case s.LastLine != "":
		return OneLine(s.LastLine)
	}
	return "working"
}

// suspendedText says of a loop whose process stands still how it goes on.
func suspendedText(s loop.Status) string {
	if s.Suspended == 0 {
		return ""
	}
	return fmt.Sprintf("suspended; fg in its terminal lets it go on, or kill -CONT %d", s.Suspended)
}

// toolText is what a tool does; where now is set, for how long a check has run: "verifying 12s: go test ./...".
func toolText(t loop.ToolStatus, now time.Time) string {
	if t.Call.ID != loop.CheckCallID || now.IsZero() || t.StartedAt.IsZero() {
		return CallTitle(t.Call)
	}
	text := t.Call.Name + " " + format.Elapsed(now.Sub(t.StartedAt).Truncate(time.Second))
	if title := ToolCallOf(t.Call).Title; title != t.Call.Name {
		text += ": " + title
	}
	return text
}

// CallTitle is what a tool call does: "bash go test ./...".
func CallTitle(call stream.ToolCall) string {
	return ToolCallOf(call).Line()
}

// Line is the call in one line.
func (c ToolCall) Line() string {
	if c.Subagent != nil || c.Title == c.Name {
		return OneLine(c.Title)
	}
	return OneLine(c.Name) + " " + c.Title
}

func problemText(problem *string) string {
	if problem == nil {
		return ""
	}
	return OneLine("error: " + *problem)
}

// WaitText says what a loop waits for: "waiting (rate limit) until 14:05". A clock without seconds tells nothing of a
// short wait, so with the time (now) it is "trying again in 5s", or "until 14:05 (3m20s)".
func WaitText(reason string, until, now time.Time) string {
	text := "waiting"
	if reason != "" {
		text += " (" + OneLine(loop.WaitText(reason)) + ")"
	}
	left := until.Sub(now).Round(time.Second)
	switch {
	case until.IsZero():
		return text
	case now.IsZero():
		return text + " until " + until.Local().Format("15:04")
	case left < time.Minute && reason == loop.WaitBackoff:
		return "trying again in " + format.Elapsed(max(left, time.Second))
	case left < time.Minute:
		return text + " for " + format.Elapsed(max(left, time.Second))
	}
	return text + fmt.Sprintf(" until %s (%s)", until.Local().Format("15:04"), format.Elapsed(left))
}

// SilentText says since when an agent gives no sign: "silent since 14:05", or
// "silent for 3m20s" to who has the time, as in WaitText.
func SilentText(since, now time.Time) string {
	switch {
	case since.IsZero():
		return ""
	case now.IsZero():
		return "silent since " + since.Local().Format("15:04")
	}
	return "silent for " + format.Elapsed(now.Sub(since).Round(time.Second))
}

// CostText writes a cost, or "" when it is unknown: unknown is never $0.00. unknown is the number of runs that aren't
// in it, -1 for some: "$0.03 and 4 runs of unknown cost".
func CostText(c stream.Cost, unknown int) string {
	if c = CostOf(c); !c.Known {
		return ""
	}
	switch {
	case unknown < 0:
		return "at least " + format.USD(c.USD)
	case unknown > 0:
		return format.USD(c.USD) + " and " + format.Counted(unknown, "run") + " of unknown cost"
	}
	return format.USD(c.USD)
}

const questionActive = "Ralph loop active. Cancel it to start the new task?"

// QuestionAbout asks whether the loop that a start met may go, in favour of the
// new one; "" for an error that tells of no such loop.
func QuestionAbout(err error) string {
	var left *loop.InterruptedError
	switch {
	case errors.As(err, new(*loop.AlreadyRunningError)):
		return questionActive
	case errors.As(err, &left):
		return LeftSentence("here", left.Reason(), left.State.Iteration, left.State.Limits().MaxIterations, "") +
			" Discard it to start the new task?"
	}
	return ""
}

// aloneText says that no window holds the loop.
func aloneText(s loop.Status) string {
	if s.Detached {
		return "alone"
	}
	return ""
}

// pausingText says when a loop will pause.
func pausingText(iteration int) string { return fmt.Sprintf("pausing after iteration %d", iteration) }

// PausedText says that a loop pauses as its user wanted.
func PausedText(iteration int) string { return fmt.Sprintf("paused after iteration %d", iteration) }

// QuestionAtWork asks whether to pause the loop that is in the way of an undo.
func QuestionAtWork(e *loop.AtWorkError) string {
	if e.Checking {
		return fmt.Sprintf("What iteration %d did is being verified, and nothing is undone meanwhile. Pause the loop after that?", e.Iteration)
	}
	return fmt.Sprintf("Iteration %d is at work, and nothing is undone meanwhile. Pause the loop after it?", e.Iteration)
}

// LeftSentence says how a loop was left behind: "A Ralph loop failed here at
// iteration 3/50: too many failures in a row. The last failure: 500." problem is
// that failure; "" isn't told.
func LeftSentence(where string, reason loop.StopReason, iteration, limit int, problem string) string {
	sentence := "A Ralph loop " + HowLeft(reason, where+" at iteration "+format.OfMax(iteration, limit)) + "."
	if last := OneLine(problem); last != "" {
		sentence += " The last failure: " + last + "."
	}
	if caution := reason.Ending().Caution; caution != "" {
		sentence += " " + caution
	}
	return sentence
}

// LeftRunningText is before, and the agents that still run although the process of their loop is gone; "" for none.
func LeftRunningText(before string, pids []int) string {
	if len(pids) == 0 {
		return ""
	}
	return before + fmt.Sprintf("its agent still runs (process %s); whatever is done with the loop ends it first",
		strings.Trim(fmt.Sprint(pids), "[]"))
}

// HowLeft says how a loop was left behind, and why when that is known: "was
// interrupted here", "failed here: too many failures in a row".
func HowLeft(reason loop.StopReason, where string) string {
	ending := cmp.Or(reason, loop.StopInterrupted).Ending() // older processes give no reason
	if !reason.Failed() {
		ending.What = "was " + ending.What
	}
	return ending.With(" " + where)
}

// SourceText says where a value comes from.
var SourceText = map[config.Source]string{
	config.FromStart: "the arguments of the start", config.FromEditor: "your editor's settings",
	config.FromPrompt: "the prompt", loop.FromState: "the state file",
	config.FromFolder: "the folder's " + config.Name, config.FromUser: "your " + config.UserName, config.FromDefault: "built in",
}
