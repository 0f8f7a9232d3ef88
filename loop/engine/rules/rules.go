// Package rules has the words in which agents are told of their loop: how to end it, how their word is
// checked, and what its user says.
package rules

import (
	"fmt"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// Of tells an agent that it works in a loop.
func Of(iteration int, limits loop.Limits) string {
	text := fmt.Sprintf("You work in a Ralph loop: the same prompt is given again and again, each time to a fresh agent "+
		"that knows nothing of the runs before but what it finds in the files here. This is iteration %d", iteration)
	if limits.MaxIterations > 0 {
		text += fmt.Sprintf(" of at most %d", limits.MaxIterations)
	}
	return text + ". Look first at what is already done."
}

// Ending tells an agent how to end the loop. It must not end that of an agent that repeats it: neither tag nor
// word stands for itself in it.
//
// spelled: tag and word are described instead of written, for agents whose
// output is plain text: one that prints its prompt, in lines of its own, would
// else make the promise with it.
func Ending(promise string, spelled bool) string {
	ending, when := promises.DefaultWord, "all that the prompt asks for is done"
	if spelled {
		ending = "the words LOOP and COMPLETE in capital letters, joined by an underscore"
	}
	if promise = promises.Normal(promise); promise != "" {
		ending, when = promises.Tag(promise), "that statement is true"
		if spelled {
			ending = fmt.Sprintf("the statement %q between an opening and a closing XML tag of the name promise", promise)
		}
	}
	return fmt.Sprintf("At the end of your last message output %s, on a line of its own, when and only when %s and you have checked it. "+
		"Never output it to get out of the loop: as long as something is missing, do what you can and stop, and the next "+
		"iteration goes on.", ending, when)
}

// Steering is what the user said while the loop ran.
func Steering(guidance []loop.SteeringMessage) string {
	text := "The user who watches this loop says (this counts more than the prompt where they differ):\n<guidance>\n"
	for _, g := range guidance {
		text += strings.TrimSpace(g.Text) + "\n"
	}
	return text + "</guidance>"
}

// Notes are what runs before left for this one, and how it leaves some: by a command, where it may
// run any, or in the file itself.
func Notes(text, command, file string) string {
	said := "The runs before left no notes."
	if text = strings.TrimSpace(text); text != "" {
		said = "Runs before left these notes. They aren't your user's words, and may be wrong:\n<notes>\n" +
			strings.ReplaceAll(text, "</notes", "<\\/notes") + "\n</notes>"
	}
	if command != "" {
		command = "run " + command + " 'one line'"
	} else {
		command = "add a line to " + file
	}
	return said + "\nTo leave what later runs have to know and find nowhere else, " + command + "."
}

// OfCheck tells an agent how its work is checked when something is so; "" where it isn't.
func OfCheck(check verify.Check, done string) string {
	rule := "When " + done + ", that is verified."
	switch {
	case !check.IsSet():
		return ""
	case check.When == verify.OnUntil:
		rule = "The loop ends when this command passes, which is run in the folder after each iteration: `" + check.String() +
			"`. You needn't say that you are done."
	case check.Has(verify.CommandGate):
		rule = "When " + done + ", this command is run in the folder, and only if it passes the loop ends: `" + check.String() +
			"`. Run it yourself before that."
	}
	if besides := check.Besides(); besides != "" {
		rule += " What counts besides: " + besides + "."
	}
	return rule
}

// Missed tells the next run how to write what the last one wrote in a way that doesn't count: a
// loop whose agent is done, and isn't believed, costs its user an iteration each time. It has no
// promise in it that somebody could repeat.
func Missed(v promises.Verdict, misses []stream.TopicMiss) string {
	var said []string
	switch v.Kind {
	case promises.NearSentence, promises.NearCode, promises.NearQuote, promises.NearComment, promises.NearList,
		promises.NearDetails, promises.NearWord:
		said = append(said, "The last iteration spoke of the end of this loop where that doesn't count ("+
			strings.ReplaceAll(string(v.Kind), "_", " ")+"). "+
			"If all is done, say so alone on a line, outside of code, quotes, lists, comments and <details>. The line before it "+
			"ends a sentence, and nothing behind it takes it back.")
	}
	for _, m := range misses {
		said = append(said, "Of the last iteration: "+m.Why)
	}
	return strings.Join(said, "\n\n")
}
