package wire

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
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

// Notice is the message of an update for people: one line without markup, and what can be done about it, the safe offer
// first. Show nothing of an update without a text.
type Notice struct {
	Text   string    `json:"text,omitempty"`
	Class  Class     `json:"class,omitempty"`
	Notify bool      `json:"notify,omitempty"` // wherever the person looks, not only in the output
	Offers []Command `json:"offers,omitempty"`
}

// NoticeOf is what a person is told of a loop's event.
func NoticeOf(e loop.Event) Notice { return NoticeIn(new(Projector).Loop(e)) }

func (s Notice) notice() Notice { return s }

func Info(text string) Notice { return Notice{Text: text, Class: ClassInfo} }

// The terminal prints the same texts.

// ChangesText says how much changed: "4 files changed +12 -3"; "" for nothing.
func ChangesText(c *changes.Summary) string {
	if c == nil || c.Files == 0 {
		return ""
	}
	return format.Counted(c.Files, "file") + " changed " + CountsText(c.Added, c.Removed)
}

// NextText answers who wants the next iteration.
func NextText(iteration int) string {
	return fmt.Sprintf("iteration %d ends now; what it has cost counts", iteration)
}

// DetachedText answers who lets a loop go on alone.
const DetachedText = "the loop goes on alone"

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
	ending, after := e.Reason.Ending(), " after "+format.Counted(e.Iterations, "iteration")
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
	return JoinFacts(what, knownCost(e.Cost, e.Unknown), hatsText(e.Hats, false), format.Elapsed(time.Duration(e.Duration)),
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
			text += " (" + format.Counted(h.Runs, "run") + ")"
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
