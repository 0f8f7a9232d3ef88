//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
// end. The program is killed while the builder works, and goes on with the builder.
func TestHatsOfTwoAgentsHandOver(t *testing.T) {
	t.Parallel()
	p := prepare(t, pi, fakemodel.Script{Turns: []fakemodel.Turn{
		{Text: `A plan. <event topic="plan.ready">first the parser</event>`, Steps: []fakemodel.Step{pi.bash("touch planned")}},
		says("I handed it over."),             // what was published before counts
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

// theWaves are a lead on pi that shares out files, two readers of claude's side by side, and pi that sums up.
const theWaves = `
[hats.lead]
triggers = ["loop.start"]
publishes = ["review.file"]

[hats.reviewer]
backend = { type = "claude", args = ["--allowedTools=Bash"] }
triggers = ["review.file"]
publishes = ["review.done"]
concurrency = 2

[hats.editor]
triggers = ["review.done"]
aggregate = true
may_finish = true
`

// TestAWaveOfRealAgents has two of claude wait for each other: neither is done alone.
func TestAWaveOfRealAgents(t *testing.T) {
	t.Parallel()
	reviews := func(own, other string) fakemodel.Turn {
		turn := does(claude.bash("touch " + own + "; until [ -e " + other + " ]; do sleep 0.1; done; echo " + own + " was read"))
		turn.System = "read " + own
		return turn
	}
	published := func(own string) fakemodel.Turn {
		turn := says(`<event topic="review.done">` + own + ` is fine</event>`)
		turn.Match = own + " was read"
		return turn
	}
	sum := says("Both are fine.\n<promise>DONE</promise>")
	sum.System = "alpha is fine"
	p := prepare(t, pi, fakemodel.Script{Turns: []fakemodel.Turn{
		says("<event topic=\"review.file\">read alpha</event>\n<event topic=\"review.file\">read beta</event>"),
		published("alpha"), published("beta"), reviews("alpha", "beta"), reviews("beta", "alpha"), sum,
	}}, claude)
	p.trusts(theWaves)
	p.start("--completion-promise", "DONE", "--max-iterations", "4", prompt)
	if exit := p.wait(); exit != exitDone {
		p.fatalf("exit %d", exit)
	}
	if got := p.hats(); got != "lead(loop.start) reviewer(review.file from lead and 1 more) editor(review.done from reviewer and 1 more)" {
		t.Errorf("the hats: %s", got)
	}
	requests := p.model.MainRequests()
	if told := requests[len(requests)-1].System; !strings.Contains(told, "beta is fine") {
		t.Errorf("the editor is told %q", told)
	}
	if t.Failed() {
		p.show()
	}
}

// theReadingHats are a planner of pi that may only read, although its arguments give it a
// shell, and a builder of claude.
const theReadingHats = `
[hats.planner]
backend = { type = "pi", args = ["--provider", "fake", "--model", "fake-model", "--tools", "read,bash"] }
triggers = ["loop.start"]
publishes = ["plan.ready"]
may_finish = false
read_only = true

[hats.builder]
backend = { type = "claude", args = ["--allowedTools=Bash"] }
triggers = ["plan.ready"]
publishes = ["build.done"]

[hats.reviewer]
triggers = ["build.done"]
may_finish = true
`

// TestAReadOnlyHatIsUndone has pi change files in a hat that may only read: once the program
// is killed meanwhile, so that nobody can tell whose they are and they stay; then the run ends
// and they are undone. pi publishes by a command, claude by the tag.
func TestAReadOnlyHatIsUndone(t *testing.T) {
	t.Parallel()
	p := prepare(t, pi, fakemodel.Script{Turns: []fakemodel.Turn{
		does(pi.bash("echo first > killed; " + longTool("killed"))),
		does(pi.bash("echo second > killed; echo a plan > PLAN.md; " + ralph + " emit plan.ready 'first the parser'")),
		says("I published it."),
		does(claude.bash("cat killed > built; ls PLAN.md || echo no plan >> built")),
		says(`Built. <event topic="build.done">the parser</event>`),
		says("<promise>DONE</promise>"),
	}}, claude)
	p.trusts(theReadingHats)
	p.start("--completion-promise", "DONE", "--max-iterations", "9", prompt)
	poll(p, patience, func() string {
		data, err := os.ReadFile(filepath.Join(p.box.Dir, "killed"))
		if string(data) == "first\n" {
			return ""
		}
		return fmt.Sprintf("the planner's file has %q, %v", data, err)
	})
	p.awaitSpent(0)
	p.crash()
	p.wait()
	p = p.again()
	if exit := p.wait(); exit != exitDone {
		p.fatalf("exit %d", exit)
	}
	if got := p.hats(); got != "planner(loop.start) builder(plan.ready from planner) reviewer(build.done from builder)" {
		t.Errorf("after it: %s", got)
	}
	checkFile(t, p, "killed", "first\n")
	checkFile(t, p, "built", "first\nno plan\n")
	var warned []string
	for _, u := range p.all() {
		if u.SessionUpdate == "_ralph/warning" {
			warned = append(warned, u.Message)
		}
	}
	if want := []string{"the hat planner is read_only, and its run was cut off: 1 file changed then or since, and nothing is undone",
		"the hat planner is read_only: what it changed is undone: PLAN.md, killed (ralph-lsp redo brings it back)"}; !slices.Equal(warned, want) {
		t.Errorf("warned of %q", warned)
	}
	// Each hat's cost is its own agent's, the planner's with the run that was killed.
	if line := p.end().line; !strings.Contains(line, `"hats":[{"hat":"planner","runs":1,"costUsd":0.0018},{"hat":"builder","runs":1,"costUsd":0.0016},{"hat":"reviewer","runs":1,"costUsd":0.0006`) {
		t.Error(line)
	}
	if err := p.ralphCommand("redo", "-C", p.box.Dir); err != nil {
		t.Error(err)
	}
	checkFile(t, p, "PLAN.md", "a plan\n")
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
