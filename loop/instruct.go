package loop

import (
	"fmt"
	"strconv"
	"strings"

	"ralph-lsp/backends"
	"ralph-lsp/stream"
)

// rules tell an agent that it works in a loop, and how to end it.
//
// spelled: the tag is described instead of written, for agents whose output is
// plain text: one that prints its prompt would else make the promise with it.
func rules(iteration int, limits Limits, promise string, spelled bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "You work in a Ralph loop: the same prompt is given again and again, each time to a fresh agent "+
		"that knows nothing of the runs before but what it finds in the files here. This is iteration %d", iteration)
	if limits.MaxIterations > 0 {
		fmt.Fprintf(&b, " of at most %d", limits.MaxIterations)
	}
	b.WriteString(". Look first at what is already done.")
	if promise != "" {
		tag := "<promise>" + promise + "</promise>"
		if spelled {
			tag = fmt.Sprintf("the statement %q between an opening and a closing XML tag of the name promise", promise)
		}
		fmt.Fprintf(&b, "\n\nAt the end of your last message output %s when and only when that statement is true. "+
			"Never output it to get out of the loop: if it isn't true yet, do what you can and stop, and the next iteration goes on.", tag)
	}
	return b.String()
}

// guidanceSection is what the user said while the loop ran.
func guidanceSection(guidance []Guidance) string {
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
	var parts []string
	if !c.Quiet {
		parts = append(parts, rules(run.iteration, run.limits, run.promise, c.Backend.Output == stream.FormatText))
	}
	if len(run.guidance) > 0 {
		parts = append(parts, guidanceSection(run.guidance))
	}
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
	if b.BudgetFlag != "" && run.limits.MaxCostUSD > 0 {
		args = append(args, b.BudgetFlag, strconv.FormatFloat(run.budget, 'f', -1, 64))
	}
	return prompt, args
}

// DryRun tells what the first iteration would be started with: the program with
// its arguments, and the prompt. Nothing is started or written.
func (c Config) DryRun() (argv []string, prompt string, err error) {
	if err := c.check(); err != nil {
		return nil, "", err
	}
	program, err := c.Backend.Find()
	if err != nil {
		return nil, "", err
	}
	prompt, ours := c.brief(plannedRun{
		iteration: 1, prompt: c.Prompt, promise: c.Promise, limits: c.Limits, budget: c.Limits.MaxCostUSD,
	})
	return append([]string{program}, c.Backend.Argv(ours, c.Args)...), prompt, nil
}
