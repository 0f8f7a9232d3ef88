package engine

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/hats"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// rules tell an agent that it works in a loop, and how to end it. They must not
// end the loop of an agent that repeats them: neither tag nor word stands for
// itself in them.
//
// spelled: tag and word are described instead of written, for agents whose
// output is plain text: one that prints its prompt, in lines of its own, would
// else make the promise with it.
func rules(iteration int, limits loop.Limits, promise string, spelled bool) string {
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

// guidanceSection is what the user said while the loop ran.
func guidanceSection(guidance []loop.Guidance) string {
	var b strings.Builder
	b.WriteString("The user who watches this loop says (this counts more than the prompt where they differ):\n<guidance>\n")
	for _, g := range guidance {
		b.WriteString(strings.TrimSpace(g.Text))
		b.WriteString("\n")
	}
	b.WriteString("</guidance>")
	return b.String()
}

// brief puts rules and guidance where the backend takes them: beside the
// prompt, which so stays byte for byte what the user wrote, or else behind it.
func (c Config) brief(run plannedRun) (prompt string, args []string) {
	parts := c.rulesFor(run)
	if role := c.roleOf(run.turn, run.emit); role != "" {
		parts = append(parts, role)
	}
	return c.hand(run, append(parts, saidTo(run)...))
}

// rulesFor are the rules of the loop, for an agent that can end it.
func (c Config) rulesFor(run plannedRun) (parts []string) {
	if c.isQuiet() {
		return nil
	}
	parts = append(parts, rules(run.iteration, run.limits, run.promise, c.Backend.Output == decode.FormatText))
	if rule := ruleOf(c.Verify); rule != "" {
		parts = append(parts, rule)
	}
	if run.circles != "" {
		parts = append(parts, run.circles)
	}
	return parts
}

// saidTo is what a run is told because of those before it.
func saidTo(run plannedRun) (parts []string) {
	for _, said := range []string{run.missed, run.refutation} {
		if said != "" {
			parts = append(parts, said)
		}
	}
	if said := slices.Concat(run.standing, run.guidance); len(said) > 0 {
		parts = append(parts, guidanceSection(said))
	}
	return parts
}

// hand puts what an agent is told where its backend takes it.
func (c Config) hand(run plannedRun, parts []string) (prompt string, args []string) {
	prompt = run.prompt
	b := c.Backend
	if text := strings.Join(parts, "\n\n"); text != "" {
		if b.HasSystemPrompt(c.Args) && len(text) <= backends.MaxArg {
			args = append(args, b.SystemPromptFlag, text)
		} else {
			prompt += "\n\n" + text
		}
	}
	if b.ModelFlag != "" && c.Model != "" {
		args = append(args, b.ModelFlag, c.Model)
	}
	if b.BudgetFlag != "" && !math.IsInf(run.budget, 1) {
		args = append(args, b.BudgetFlag, strconv.FormatFloat(run.budget, 'f', -1, 64))
	}
	return prompt, args
}

// DryRun tells what the first iteration would be started with: the program of the first
// agent with its arguments, and the prompt. Nothing is started or written.
func (c Config) DryRun() (argv []string, prompt string, err error) {
	if err := c.check(); err != nil {
		return nil, "", err
	}
	var turn hats.Turn
	if ring := c.ring(); ring != nil {
		queue := hats.NewQueue()
		turn, _, _ = ring.Next(&queue)
		c = c.worn(turn.Hat.Name)
	} else {
		own, _ := c.role(c.Hat)
		turn.Hat, c = own.Hat, c.worn(c.Hat)
	}
	first := plannedRun{
		turn: turn, iteration: 1, prompt: c.Prompt, promise: c.Promise, limits: c.Limits, budget: c.Limits.MaxCostUSD,
	}
	if first.budget == 0 {
		first.budget = math.Inf(1)
	}
	if spent, err := c.Budget.Spent(time.Now()); err == nil {
		first.budget = min(first.budget, c.Budget.Limits.Left(spent))
	}
	brief := c.brief
	if len(c.Steps) > 0 {
		w, at := c.Steps[0][0], c.places(0)[0]
		first.prompt = w.taskOf(at, c.Prompt, "")
		c = c.as(w)
		brief = func(run plannedRun) (string, []string) { return c.briefOf(w, at, run) }
	}
	program, err := c.Backend.Find()
	if err != nil {
		return nil, "", err
	}
	prompt, ours := brief(first)
	return append([]string{program}, c.Backend.Argv(ours, c.Args)...), prompt, nil
}
