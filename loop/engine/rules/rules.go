// Package rules has the words in which agents are told of their loop: how to end it, how their word is
// checked, and what its user says.
package rules

import (
	"fmt"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
	"github.com/ralph-lsp/ralph-lsp/verify"
)

// Of are the rules of a loop. They tell an agent that it works in a loop, and how to end it. They must not
// end the loop of an agent that repeats them: neither tag nor word stands for
// itself in them.
//
// spelled: tag and word are described instead of written, for agents whose
// output is plain text: one that prints its prompt, in lines of its own, would
// else make the promise with it.
func Of(iteration int, limits loop.Limits, promise string, spelled bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "You work in a Ralph loop: the same prompt is given again and again, each time to a fresh agent "+
		"that knows nothing of the runs before but what it finds in the files here. This is iteration %d", iteration)
	if limits.MaxIterations > 0 {
		fmt.Fprintf(&b, " of at most %d", limits.MaxIterations)
	}
	b.WriteString(". Look first at what is already done.\n\n")
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
	fmt.Fprintf(&b, "At the end of your last message output %s, on a line of its own, when and only when %s and you have checked it. "+
		"Never output it to get out of the loop: as long as something is missing, do what you can and stop, and the next iteration goes on.", ending, when)
	return b.String()
}

// Guidance is what the user said while the loop ran.
func Guidance(guidance []loop.Guidance) string {
	var b strings.Builder
	b.WriteString("The user who watches this loop says (this counts more than the prompt where they differ):\n<guidance>\n")
	for _, g := range guidance {
		b.WriteString(strings.TrimSpace(g.Text))
		b.WriteString("\n")
	}
	b.WriteString("</guidance>")
	return b.String()
}

// OfCheck tells an agent how its word is checked; "" where it isn't.
func OfCheck(check verify.Check) string {
	rule := "When you say that you are done, that is verified."
	switch {
	case !check.IsSet():
		return ""
	case check.When == verify.OnUntil:
		rule = "The loop ends when this command passes, which is run in the folder after each iteration: `" + check.String() + "`. You needn't say that you are done."
	case check.Has(verify.CommandGate):
		rule = "When you say that you are done, this command is run in the folder, and only if it passes the loop ends: `" + check.String() + "`. Run it yourself before you say so."
	}
	if besides := check.Besides(); besides != "" {
		rule += " What counts besides: " + besides + "."
	}
	return rule
}
