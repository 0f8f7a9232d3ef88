package plan

import (
	"fmt"
	"strings"
)

// Format says how a plan with such a name is written: words for an agent that is to write one.
func Format(name string) string {
	if isPRD(name) {
		return `They are the objects of its "userStories", with id, title, description, acceptanceCriteria, priority (the ` +
			`lowest first) and passes: false.`
	}
	return `Each is a line "- [ ] what is to be done" below a Markdown heading; what else its agent has to know stands in ` +
		`indented lines below it. ` +
		"Behind it, in parentheses: (verify: COMMAND) for the shell command that passes when it is done, wherever there is one, and " +
		"(after: TASK) for the beginning of the text of a task that has to be done before."
}

func isPRD(name string) bool { return strings.HasSuffix(strings.ToLower(name), ".json") }

// Review describes a plan before it is run: its tasks, its mistakes, and the commands of its checks, each in a line.
// The texts are as the file has them, not yet safe for a terminal.
func (p Plan) Review() string {
	lines := []string{fmt.Sprintf("%s: %d of %d tasks open", p.Name, len(p.Open()), len(p.Tasks()))}
	for i, it := range p.Items {
		depth, box := 1, " "
		for up := it.parent; up >= 0; up = p.Items[up].parent {
			depth++
		}
		if p.done(i) {
			box = "x"
		}
		text := it.Text
		for _, name := range it.After {
			text += " (after: " + name + ")"
		}
		if it.Agent != "" {
			text += " (agent: " + it.Agent + ")"
		}
		lines = append(lines, strings.Repeat("  ", depth)+"["+box+"] "+short(text))
	}
	for _, problem := range p.Problems {
		lines = append(lines, fmt.Sprintf("wrong in line %d: %s", problem.Line, problem.Text))
	}
	for _, command := range p.Commands() {
		lines = append(lines, "its checks would run: "+strings.ReplaceAll(command, "\n", `\n`))
	}
	return strings.Join(lines, "\n")
}
