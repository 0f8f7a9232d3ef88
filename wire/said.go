package wire

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// Class says how something that a person is told is meant.
type Class = loop.Class

// The classes.
const (
	ClassInfo    = loop.ClassInfo
	ClassOK      = loop.ClassOK
	ClassWarning = loop.ClassWarning
	ClassError   = loop.ClassError
)

// Said is the message of an update for people: one line without markup, and what can be done about it, the safe offer
// first. Show nothing of an update without a text.
type Said struct {
	Text   string    `json:"text,omitempty"`
	Class  Class     `json:"class,omitempty"`
	Notify bool      `json:"notify,omitempty"` // wherever the person looks, not only in the output
	Offers []Command `json:"offers,omitempty"`
}

// SaidOf is what a person is told of a loop's event.
func SaidOf(e loop.Event) Said { return SaidIn(new(Projector).Loop(e)) }

func (s Said) said() Said { return s }

func Info(text string) Said { return Said{Text: text, Class: ClassInfo} }

// The terminal prints the same texts.

// DiscardText takes back what an agent said before it has to try again.
const DiscardText = "the attempt failed; its text above doesn't count"

// NearMissText says why a loop goes on although it looks like a promise.
func NearMissText(e loop.NearMiss) string {
	return "not done yet: " + cmp.Or(Sentence(e.Why), fmt.Sprintf("found %q, expected %q", OneLine(e.Found), OneLine(e.Expected)))
}

// saidOfSession names the agent once its model is known, which some agents tell later.
func saidOfSession(e stream.SessionStart) Said {
	if e.Model == "" {
		return Said{}
	}
	return Info(SessionText(e))
}

// SessionText names the agent at work: "pi 0.87.1 · anthropic · claude-sonnet-4".
func SessionText(e stream.SessionStart) string {
	agent := e.Backend
	if e.Version != "" {
		agent += " " + e.Version
	}
	return OneLine(JoinFacts(agent, e.Provider, e.Model))
}

// IterationText says that an iteration begins: "iteration 3 of 50".
func IterationText(e loop.IterationStart) string {
	text := fmt.Sprintf("iteration %d", e.Iteration)
	if of := ofMax(e); of != "" {
		text += " " + of
	}
	return JoinFacts(text, HatText(e), OneLine(e.Task))
}

func ofMax(e loop.IterationStart) string {
	if e.MaxIterations == 0 {
		return ""
	}
	return fmt.Sprintf("of %d", e.MaxIterations)
}

// HatText says which hat an iteration wears, and why: "builder, called by plan.ready
// from planner"; "" where none hand over.
func HatText(e loop.IterationStart) string {
	text := Sentence(e.Hat)
	if e.Topic != "" {
		text += ", called by " + Sentence(e.Topic)
	}
	return text
}

// IterationEndText sums up an iteration: "ok · $0.31 · 4 turns · 6 tool calls · 1m01s".
func IterationEndText(e loop.IterationEnd) string {
	what := string(e.Outcome)
	if e.Error != "" {
		what += ": " + Sentence(e.Error)
	}
	facts := []string{what, knownCost(e.Cost, 0)}
	if e.Turns > 0 { // an agent without a structured stream doesn't tell
		facts = append(facts, tell.Counted(e.Turns, "turn"))
	}
	if e.ToolCalls > 0 {
		facts = append(facts, tell.Counted(e.ToolCalls, "tool call"))
	}
	if e.Duration > 0 { // a recorded stream doesn't tell
		facts = append(facts, tell.Elapsed(time.Duration(e.Duration)))
	}
	if e.Skipped > 0 {
		facts = append(facts, tell.Counted(e.Skipped, "broken line")+" skipped")
	}
	return JoinFacts(facts...)
}

// ChangesText says how much changed: "4 files changed +12 -3"; "" for nothing.
func ChangesText(c *changes.Summary) string {
	if c == nil || c.Files == 0 {
		return ""
	}
	return tell.Counted(c.Files, "file") + " changed " + CountsText(c.Added, c.Removed)
}

// classOf says how an iteration's end is meant: after a failure the loop goes on.
func classOf(o loop.Outcome) Class {
	switch o {
	case loop.OutcomeOK:
		return ClassOK
	case loop.OutcomeCancelled:
		return ClassInfo
	}
	return ClassWarning
}

// saidOf says why a loop waits or pauses; of the other states the updates
// around them tell.
func saidOf(e loop.StateChanged) Said {
	if e.Reason == loop.ReasonSurvey {
		return Info("all files are looked at before the first run, so that what it changes can be undone; a cancel ends that at once")
	}
	switch e.State {
	case loop.StateWaiting:
		if e.Reason == loop.WaitPermission { // the question says it
			return Said{}
		}
		return Said{Text: WaitText(e.Reason, e.ResumeAt, time.Now()), Class: ClassWarning}
	case loop.StatePaused:
		switch e.Reason {
		case loop.PauseUnchecked:
			return Said{Text: "paused: the promise can't be verified", Class: ClassWarning}
		case loop.PauseBudget:
			return Said{Text: "paused for your budget", Class: ClassWarning, Notify: true}
		case loop.PauseQuota:
			return Said{Text: "paused: the agent's account has no credits left", Class: ClassWarning, Notify: true}
		case loop.PauseUnknownCost:
			return Said{Text: "paused: what the last runs cost is unknown, so the cost cap can't be enforced", Class: ClassWarning, Notify: true}
		}
		return Info("paused")
	}
	return Said{}
}

// RetryText says what an agent waits for that tries again by itself.
func RetryText(e stream.Retry) string {
	attempt := fmt.Sprint(e.Attempt)
	if e.MaxAttempts > 0 {
		attempt = tell.OfMax(e.Attempt, e.MaxAttempts)
	}
	return JoinFacts(fmt.Sprintf("the agent tries again in %s (attempt %s)", tell.Elapsed(time.Duration(e.Delay)), attempt),
		Sentence(e.Message))
}

// CompactionText says that the agent summarises its context.
func CompactionText(e stream.Compaction) string {
	switch {
	case e.Error != "":
		return "the agent could not summarise its context: " + Sentence(e.Error)
	case e.Done:
		return "the agent has summarised its context"
	}
	return "the agent summarises its context"
}

// TopicText is an event block in one line: "build.done for reviewer: tests: pass".
func TopicText(e stream.Topic) string {
	topic := Sentence(e.Topic)
	if e.Target != "" {
		topic += " for " + Sentence(e.Target)
	}
	if e.Payload == "" {
		return topic
	}
	return topic + ": " + OneLine(e.Payload)
}

// NextText answers who wants the next iteration.
func NextText(iteration int) string {
	return fmt.Sprintf("iteration %d ends now; what it has cost counts", iteration)
}

// DetachedText answers who lets a loop go on alone.
const DetachedText = "the loop goes on alone"

// GuidanceText acknowledges guidance. A past loop's has no text.
func GuidanceText(e loop.Guidance) string {
	what := "guidance for the next run"
	switch e.State {
	case loop.GuidanceSent:
		what = "guidance for the running agent"
	case loop.GuidanceLate:
		what = "guidance came too late for this run"
	case loop.GuidanceDelivered:
		what = "guidance delivered"
	}
	if e.Text == "" {
		return what
	}
	return what + ": " + Sentence(e.Text)
}

// LimitsText says what the limits are after a change, and how that came.
func LimitsText(e loop.LimitsChanged) string {
	text := "limits changed: " + e.Limits.Line(Sentence(e.Promise))
	if how := e.Text(); how != "" {
		text += " (" + Sentence(how) + ")"
	}
	return text
}

// limitTexts say a loop's limits and its promise, each in a line.
func limitTexts(l loop.Limits, promise string) []string {
	lines := l.Texts()
	if promise != "" {
		lines = append(lines, "promise "+Sentence(promise))
	}
	return lines
}

// EndLine says in one line how a loop ended:
// "done: DONE after 7 iterations · $3.10 · 12m00s".
func EndLine(e loop.End) string {
	ending, after := e.Reason.Ending(), " after "+tell.Counted(e.Iterations, "iteration")
	what := ending.With(after)
	if e.Promise != "" {
		what = ending.What + ": " + OneLine(e.Promise) + after
	}
	if e.Iterations == 0 && ending.Class == ClassOK {
		what = ending.What + ": there was nothing to do"
	}
	if e.Limit > 0 && e.Iterations > e.Limit { // it was lowered
		what += fmt.Sprintf(" (it is %d)", e.Limit)
	}
	return JoinFacts(what, knownCost(e.Cost, e.Unknown), hatsText(e.Hats, false), tell.Elapsed(time.Duration(e.Duration)),
		verificationText(e), unchangedText(e))
}

// EndText is EndLine with what went wrong.
func EndText(e loop.End) string { return JoinFacts(EndLine(e), OneLine(e.Problem())) }

// maxHats bounds how many hats a line names.
const maxHats = 12

// hatsText says what each hat has cost: "planner $0.20 (1 run), builder at least $1.10 (4 runs)".
func hatsText(costs []loop.HatCost, withRuns bool) string {
	if !withRuns && !slices.ContainsFunc(costs, func(h loop.HatCost) bool { return h.Cost.Known }) {
		return "" // the loop's cost says so
	}
	var texts []string
	for i, h := range costs {
		if i == maxHats {
			texts = append(texts, fmt.Sprintf("%d more", len(costs)-i))
			break
		}
		text := OneLine(h.Hat) + " " + knownCost(h.Cost, 0)
		if h.Incomplete && h.Cost.Known {
			text = OneLine(h.Hat) + " " + CostText(h.Cost, -1)
		}
		if withRuns && h.Runs > 0 {
			text += " (" + tell.Counted(h.Runs, "run") + ")"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

// knownCost is CostText that says so where nothing is known.
func knownCost(c stream.Cost, unknown int) string {
	return cmp.Or(CostText(c, unknown), "cost unknown")
}

func CountsText(added, removed int) string { return fmt.Sprintf("+%d -%d", added, removed) }
