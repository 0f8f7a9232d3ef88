package server

import (
	"cmp"
	"fmt"
	"strings"

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

// offersOf are the commands for what the loop offers.
func offersOf(o loop.Offer) []Command {
	var offers []Command
	for _, promise := range o.Promises {
		change := ChangeParams{LoopParams: LoopParams{LoopID: o.LoopID}, LimitParams: LimitParams{CompletionPromise: &promise}}
		offers = append(offers, Command{fmt.Sprintf("Make %q the Promise", oneLine(promise)), CommandUpdate, []any{change}})
	}
	return offers
}

// NearMissText says why a loop goes on although it looks like a promise.
func NearMissText(e loop.NearMiss) string {
	return "not done yet: " + cmp.Or(sentence(e.Why), fmt.Sprintf("found %q, expected %q", oneLine(e.Found), oneLine(e.Expected)))
}

// GoalText says which promise ends a loop, and who says so.
func GoalText(e loop.Goal) string {
	text := "this loop is done when the agent says " + sentence(stream.Tag(e.Promise))
	if from := sourceText[config.Source(e.From)]; from != "" {
		text += " (from " + from + ")"
	}
	return text
}

// sentence is a text that was written by the loop, in one line.
func sentence(text string) string { return strings.Join(strings.Fields(stream.Plain(text)), " ") }
