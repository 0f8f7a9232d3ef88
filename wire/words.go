package wire

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"ralph-lsp/config"
	"ralph-lsp/loop"
	"ralph-lsp/stream"
)

// Class says how an update is meant.
type Class string

// The classes.
const (
	ClassInfo    Class = "info"
	ClassOK      Class = "ok"
	ClassWarning Class = "warning"
	ClassError   Class = "error"
)

// Said is what a person is told with an update: finished words, in one line and
// without markup, and what can be done about it, the safe offer first.
type Said struct {
	Text   string    `json:"text"`
	Class  Class     `json:"class"`
	Offers []Command `json:"offers,omitempty"`
}

// Command is LSP's Command: one of ours for workspace/executeCommand.
type Command struct {
	Title     string `json:"title"`
	Command   string `json:"command"`
	Arguments []any  `json:"arguments,omitempty"`
}

// OffersOf are the commands for what the loop offers.
func OffersOf(o loop.Offer) []Command {
	var offers []Command
	for _, promise := range o.Promises {
		change := ChangeParams{LoopParams: LoopParams{LoopID: o.LoopID}, LimitParams: LimitParams{CompletionPromise: &promise}}
		offers = append(offers, Command{fmt.Sprintf("Make %q the Promise", OneLine(promise)), CommandUpdate, []any{change}})
	}
	return offers
}

// NearMissText says why a loop goes on although it looks like a promise.
func NearMissText(e loop.NearMiss) string {
	return "not done yet: " + cmp.Or(sentence(e.Why), fmt.Sprintf("found %q, expected %q", OneLine(e.Found), OneLine(e.Expected)))
}

// GoalText says which promise ends a loop, and who says so.
func GoalText(e loop.Goal) string {
	text := "this loop is done when the agent says " + sentence(stream.Tag(e.Promise))
	if from := SourceText[config.Source(e.From)]; from != "" {
		text += " (from " + from + ")"
	}
	return text
}

// sentence is a text that was written by the loop, in one line.
func sentence(text string) string { return strings.Join(strings.Fields(stream.Plain(text)), " ") }

// These write what the editors and the terminal say in the same words.

// OfMax writes "3/50", or "3" where there is no limit.
func OfMax(n, limit int) string {
	if limit == 0 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d/%d", n, limit)
}

// Counted writes "1 iteration", "7 iterations".
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// JoinFacts puts the facts that aren't empty between dots.
func JoinFacts(facts ...string) string {
	var said []string
	for _, fact := range facts {
		if fact != "" {
			said = append(said, fact)
		}
	}
	return strings.Join(said, " · ")
}

// Activity is what a loop does right now.
func Activity(s loop.Status, problem *string) string {
	switch {
	case s.State == loop.StateStarting:
		return JoinFacts(s.Session.Backend, "starting")
	case s.State == loop.StatePaused:
		return "paused"
	case s.State == loop.StateCancelling:
		return "stopping"
	case s.Retry != nil:
		return JoinFacts(waitText(s.Retry.Reason, s.Retry.ResumeAt), problemText(problem))
	case s.Tool != nil:
		call := ToolCallOf(s.Tool.Call)
		if call.Title == call.Name {
			return OneLine(call.Name)
		}
		return OneLine(call.Name) + " " + call.Title
	case problem != nil:
		return problemText(problem)
	case s.LastLine != "":
		return OneLine(s.LastLine)
	}
	return "working"
}

func problemText(problem *string) string {
	if problem == nil {
		return ""
	}
	return OneLine("error: " + *problem)
}

// waitText says what a loop waits for: "waiting (rate limit) until 14:05".
func waitText(reason string, until time.Time) string {
	text := "waiting"
	if reason != "" {
		text += " (" + OneLine(loop.WaitText(reason)) + ")"
	}
	if !until.IsZero() {
		text += " until " + until.Local().Format("15:04")
	}
	return text
}

// endings say why a loop ended that kept no promise.
var endings = map[loop.StopReason]string{
	loop.StopMaxIterations:    "stopped: iteration limit reached",
	loop.StopMaxCost:          "stopped: cost limit reached",
	loop.StopMaxTime:          "stopped: time limit reached",
	loop.StopCancelled:        "cancelled",
	loop.StopStateRemoved:     "cancelled: state file removed",
	loop.StopInterrupted:      "interrupted",
	loop.StopFailures:         "failed: too many failures in a row",
	loop.StopPermissionDenied: "failed: the agent was refused permission",
	loop.StopStalled:          "failed: the agent fell silent",
	loop.StopBackendError:     "failed: the agent could not be started",
	loop.StopBadStateFile:     "failed: the state file can't be used",
}

// Ending says why a loop ended that kept no promise; "" for a reason that isn't known.
func Ending(r loop.StopReason) string { return endings[r] }

// EndText says in one line how a loop ended:
// "done: DONE after 7 iterations · $3.10 · 12m".
func EndText(e loop.End) string {
	what, known := endings[e.Reason]
	switch {
	case e.Reason == loop.StopPromise:
		what = "done: " + OneLine(e.Promise)
	case !known:
		what = "ended: " + string(e.Reason)
	}
	after := "after " + Counted(e.Iterations, "iteration")
	return JoinFacts(what+" "+after, CostText(e.Cost, false), Roughly(e.Duration), OneLine(e.Error))
}

// CostText writes a cost, or "" when it is unknown: unknown is never $0.00.
func CostText(c stream.Cost, incomplete bool) string {
	if c = believed(c); !c.Known {
		return ""
	}
	text := fmt.Sprintf("$%.2f", c.USD)
	if incomplete {
		text = "at least " + text
	}
	return text
}

// Roughly writes a duration as people say it: 45s, 12m, 1h02m.
func Roughly(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// QuestionAbout asks whether the loop that a start met may go, in favour of the
// new one; "" for an error that tells of no such loop.
func QuestionAbout(err error) string {
	var left *loop.InterruptedError
	switch {
	case errors.As(err, new(*loop.AlreadyRunningError)):
		return "Ralph loop active. Cancel it to start the new task?"
	case errors.As(err, &left):
		return LeftSentence("here", left.Reason(), left.State.Iteration, left.State.Limits().MaxIterations) + " Discard it to start the new task?"
	}
	return ""
}

// LeftSentence says how a loop was left behind: "A Ralph loop failed here at
// iteration 3/50: too many failures in a row."
func LeftSentence(where string, reason loop.StopReason, iteration, limit int) string {
	how, why := HowLeft(reason)
	return fmt.Sprintf("A Ralph loop %s %s at iteration %s%s.", how, where, OfMax(iteration, limit), why)
}

// HowLeft says how a loop was left behind, and why when that is known: "failed",
// ": too many failures in a row".
func HowLeft(reason loop.StopReason) (how, why string) {
	if !reason.Failed() {
		return "was interrupted", ""
	}
	return "failed", strings.TrimPrefix(Ending(reason), "failed")
}
