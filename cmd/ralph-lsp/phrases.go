package main

import (
	"fmt"
	"strings"
	"time"

	"ralph-lsp/loop"
	"ralph-lsp/stream"
	"ralph-lsp/wire"
)

// subagentBar stands before the lines of a subagent's.
const subagentBar = "  ┊ "

// endLine says in one line how a loop ended: "done: DONE after 7 iterations · $3.10 · 12m00s".
func endLine(e loop.End) string {
	after := "after " + wire.Counted(e.Iterations, "iteration")
	var what string
	switch e.Reason {
	case loop.StopPromise:
		what = fmt.Sprintf("done: %s %s", plainLine(e.Promise), after)
	case loop.StopMaxIterations:
		what = "stopped: the iteration limit is reached " + after
		if e.Limit > 0 { // older session files don't say it
			what = fmt.Sprintf("stopped: the limit of %s is reached", wire.Counted(e.Limit, "iteration"))
		}
		if e.Limit > 0 && e.Iterations > e.Limit {
			what += fmt.Sprintf(", %d were run", e.Iterations)
		}
	case loop.StopMaxCost:
		what = "stopped: the cost limit is reached " + after
	case loop.StopMaxTime:
		what = "stopped: the time limit is reached " + after
	case loop.StopCancelled:
		what = "cancelled " + after
	case loop.StopStateRemoved:
		what = "cancelled " + after + ": the state file was removed"
	case loop.StopInterrupted:
		what = "interrupted " + after
	case loop.StopFailures:
		what = "failed " + after + ": too many failures in a row"
	case loop.StopPermissionDenied:
		what = "failed " + after + ": the agent was refused permission"
	case loop.StopStalled:
		what = "failed " + after + ": the agent was silent for too long"
	case loop.StopBackendError:
		what = "failed: the agent could not be started"
	case loop.StopBadStateFile:
		what = "failed " + after + ": the state file can't be used"
	default:
		what = fmt.Sprintf("ended (%s) %s", e.Reason, after)
	}
	return wire.JoinFacts(what, costOr(e.Cost, "cost unknown"), took(e.Duration))
}

// failure is the line for stderr of a loop that failed: why, and what to do.
func failure(e loop.End) string {
	why := plainLine(e.Error)
	switch e.Reason {
	case loop.StopPermissionDenied:
		var denied []string
		for _, d := range e.Denials {
			denied = append(denied, strings.TrimSpace(d.Tool+" "+plainLine(d.Detail)))
		}
		why = fmt.Sprintf("the agent was refused permission twice: %s; allow it (--backend-arg, see the agent's permission flags) or change the prompt", strings.Join(denied, ", "))
	case loop.StopStalled:
		why = orElse(why, "the agent gave no output") + "; raise --idle-timeout (0 waits without end), then ralph-lsp resume"
	case loop.StopFailures:
		why = "too many failures in a row, the last: " + orElse(why, "unknown") + "; see to it, then ralph-lsp resume, or start anew with run --replace"
	case loop.StopBackendError:
		why = "the agent could not be started: " + orElse(why, "unknown") + "; see ralph-lsp doctor"
	default:
		why = orElse(why, "the loop failed: "+string(e.Reason))
	}
	return why
}

// iterationLine sums up an iteration: "error · $0.31 · 4 turns · 6 tool calls · 1m01s".
func iterationLine(e loop.IterationEnd) string {
	what := string(e.Outcome)
	if e.Error != "" {
		what += ": " + plainLine(e.Error)
	}
	facts := []string{what, costOr(e.Cost, "cost unknown")}
	if e.Turns > 0 { // an agent without a structured stream doesn't tell
		facts = append(facts, wire.Counted(e.Turns, "turn"))
	}
	if e.ToolCalls > 0 {
		facts = append(facts, wire.Counted(e.ToolCalls, "tool call"))
	}
	facts = append(facts, took(e.Duration))
	if e.Skipped > 0 {
		facts = append(facts, wire.Counted(e.Skipped, "broken line")+" skipped")
	}
	return wire.JoinFacts(facts...)
}

// stateLine says why a loop doesn't run right now, or "" when it runs or ends.
func stateLine(e loop.StateChanged, now time.Time) string {
	switch e.State {
	case loop.StateWaiting:
		return waiting(e.Reason, e.ResumeAt, now)
	case loop.StatePaused:
		return "paused" + because(e.Reason) + "; go on with ralph-lsp resume"
	}
	return ""
}

// retryLine says what an agent waits for that tries again by itself.
func retryLine(e stream.Retry) string {
	attempt := fmt.Sprint(e.Attempt)
	if e.MaxAttempts > 0 {
		attempt = wire.OfMax(e.Attempt, e.MaxAttempts)
	}
	return wire.JoinFacts(fmt.Sprintf("the agent tries again in %s (attempt %s)", took(e.Delay), attempt), plainLine(e.Message))
}

// offerLines are the command lines that do what a loop offers.
func offerLines(o loop.Offer) []string {
	var lines []string
	for _, promise := range o.Promises {
		lines = append(lines, fmt.Sprintf("  make it the promise: ralph-lsp update -C %s --completion-promise %s", shellWord(o.Folder), shellWord(promise)))
	}
	return lines
}

// guidanceLine acknowledges guidance.
func guidanceLine(e loop.Guidance) string {
	what := "guidance for the next run: "
	if e.State == loop.GuidanceDelivered {
		what = "guidance delivered: "
	}
	return what + plainLine(e.Text)
}

// limitsLine says what the limits are after a change.
func limitsLine(e loop.LimitsChanged) string {
	return "limits changed: " + e.Limits.Line(plainLine(e.Promise))
}

// compactionLine says that the agent summarises its context.
func compactionLine(e stream.Compaction) string {
	switch {
	case e.Error != "":
		return "the agent could not summarise its context: " + plainLine(e.Error)
	case e.Done:
		return "the agent has summarised its context"
	}
	return "the agent summarises its context"
}

// callTitle is what a tool call does: "bash go test ./...".
func callTitle(call stream.ToolCall) string {
	shown := wire.ToolCallOf(call)
	name := plainLine(shown.Name)
	if shown.Title == shown.Name {
		return name
	}
	return name + " " + shown.Title
}

func costOr(c stream.Cost, unknown string) string { return orElse(money(c), unknown) }

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func because(reason string) string {
	if reason == "" || reason == "user" {
		return ""
	}
	return " (" + plainLine(loop.WaitText(reason)) + ")"
}

// waiting says what a loop waits for, and until when.
func waiting(reason string, at, now time.Time) string {
	if left := at.Sub(now); !at.IsZero() && left < time.Minute { // a clock without seconds wouldn't tell
		seconds := fmt.Sprintf("%ds", max(1, int(left.Round(time.Second).Seconds())))
		if reason == loop.WaitBackoff {
			return "trying again in " + seconds
		}
		return "waiting" + because(reason) + " for " + seconds
	}
	return "waiting" + because(reason) + until(at, now)
}

// until says when something goes on: " until 14:05 (3m20s)".
func until(at, now time.Time) string {
	if left := at.Sub(now); !at.IsZero() && left > 0 {
		return fmt.Sprintf(" until %s (%s)", at.Local().Format("15:04"), clock(left))
	}
	return ""
}
