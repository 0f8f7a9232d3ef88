//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
)

// theHats are two on pi and one on claude.
const theHats = `
[verify]
command = "test -f tested"

[hats.planner]
triggers = ["loop.start"]
publishes = ["plan.ready"]
may_finish = false

[hats.builder]
backend = { type = "claude", args = ["--allowedTools=Bash"] }
triggers = ["plan.ready", "review.rejected"]
publishes = ["build.done"]

[hats.reviewer]
triggers = ["build.done"]
publishes = ["review.rejected"]
may_finish = true
`

// TestHatsOfTwoAgentsHandOver has pi plan and review, and claude build, to a verified
// end. pi publishes by a command first, and by the tag, as claude does. The program is killed while the builder works, and goes on with the builder.
func TestHatsOfTwoAgentsHandOver(t *testing.T) {
	t.Parallel()
	p := prepare(t, pi, fakemodel.Script{Turns: []fakemodel.Turn{
		does(pi.bash(ralph + " emit plan.ready 'first the parser'")), says("I handed it over."),
		does(claude.bash(longTool("killed"))), // and here it is killed
		does(claude.bash("touch built")), says(`Built. <event topic="build.done">built, untested</event>`),
		says("It is all there.\n<promise>DONE</promise>"), // which the check refutes
		says(`<event topic="review.rejected">test it</event>`),
		does(claude.bash("touch tested")), says(`<event topic="build.done">tested</event>`),
		says("<promise>DONE</promise>"),
	}}, claude)
	p.trusts(theHats)
	p.start("--completion-promise", "DONE", "--max-iterations", "9", prompt)
	awaitProcesses(p, 1, "killed")
	p.crash()
	p.wait()
	if got := p.hats(); got != "planner(loop.start) builder(plan.ready from planner)" {
		t.Errorf("before the kill: %s", got)
	}
	p = p.again()
	if exit := p.wait(); exit != exitDone {
		p.fatalf("exit %d", exit)
	}
	want := "builder(plan.ready from planner) reviewer(build.done from builder) reviewer(build.done from builder) " +
		"builder(review.rejected from reviewer) reviewer(build.done from builder)"
	if got := p.hats(); got != want {
		t.Errorf("after it: %s", got)
	}
	checkFile(t, p, "tested", "")
	for _, r := range p.model.MainRequests() {
		isBuilders := strings.Contains(r.System, `you wear the hat "builder"`)
		if isBuilders != strings.Contains(r.System, "Claude Code") {
			t.Errorf("a hat's agent is another one: %.200s", r.System)
		}
	}
	if t.Failed() {
		p.show()
	}
}

// hats are the hats of the iterations so far, each with what woke it.
func (p *program) hats() string {
	var worn []string
	for _, u := range p.all() {
		if u.Hat != "" && u.Phase == "begin" {
			worn = append(worn, u.Hat+"("+u.Topic+")")
		}
	}
	return strings.Join(worn, " ")
}
