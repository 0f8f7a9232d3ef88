package rules

import (
	"fmt"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/loop/plan"
)

// Task tells an agent which task of a plan is its. checks says whether the task's own check is run, isOne that others
// do theirs at the same time.
func Task(p plan.Plan, it plan.Item, checks, isOne bool) string {
	var b strings.Builder
	open, tasks := p.Open(), p.Tasks()
	fmt.Fprintf(&b, "The loop works through the plan in %s. Done so far: %d of %d tasks. ", p.Name, len(tasks)-len(open), len(tasks))
	if it.ID == "" {
		b.WriteString("No task is open any more. What is still wrong is said below: mend that.")
		return b.String()
	}
	b.WriteString("In this iteration do this task, and no other one:\n<task>\n")
	if it.Heading != "" {
		fmt.Fprintf(&b, "%s:\n", it.Heading)
	}
	b.WriteString(strings.ReplaceAll(strings.TrimSpace(it.Text+"\n"+it.More), "</task", `<\/task`) + "\n</task>\n")
	for _, before := range p.Waits(it) {
		fmt.Fprintf(&b, "The plan has it behind the task %q, which isn't done: your user wants it now. ", before.Text)
	}
	if checks {
		fmt.Fprintf(&b, "It is done when this command passes, which is run in the folder when you have ended: `%s`. ", it.Verify)
	}
	checked := fmt.Sprintf("When it is done, and you have checked that, mark it in %s (line %d): its [ ] becomes [x].", p.Name, it.Line)
	if strings.HasSuffix(strings.ToLower(p.Name), ".json") {
		checked = fmt.Sprintf("When it is done, and you have checked that, set its passes to true in %s (line %d).", p.Name, it.Line)
	}
	b.WriteString(checked + " Take no task out of that file and change none. Then stop: the next iteration does the next one. " +
		"You needn't say that all is done: the loop ends when no task is open.")
	if isOne {
		return b.String()
	}
	var later []string
	for _, other := range open {
		if other.ID != it.ID {
			later = append(later, "- "+other.Text)
		}
	}
	if more := len(later) - plan.Told; more > 0 {
		later = append(later[:plan.Told], fmt.Sprintf("- and %d more", more))
	}
	if len(later) > 0 {
		b.WriteString("\n\nLater iterations do:\n" + strings.Join(later, "\n"))
	}
	return b.String()
}

// Checkout tells an agent that it works beside others.
func Checkout(dir string) string {
	return "You work in " + dir + ", a checkout of your own: other agents do other tasks of the plan at the same time, each " +
		"in its own. Change nothing outside of it. " +
		"When you have ended, the files that you have changed there are merged into the loop's folder; commits, branches and stashes are not."
}
