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
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// third is a check that fails until three files are there.
const third = `if [ $(ls done-* | wc -l) -ge 3 ]; then echo "ok shop 0.01s"; else echo "--- FAIL: TestParse (0.00s)"; exit 1; fi`

// lies is a run's part of the model that does a third of the work, and promises all.
func (a agent) lies(run int) []fakemodel.Turn {
	return []fakemodel.Turn{does(a.write(fmt.Sprintf("done-%d", run), "1\n")), says("All is done. <promise>DONE</promise>")}
}

// verdicts are what the gates said, in order: "command refuted".
func (p *program) verdicts() (all []string) {
	for _, u := range p.all() {
		if u.SessionUpdate == "_ralph/verify" && u.State != "running" {
			all = append(all, u.Gate+" "+u.State)
		}
	}
	return all
}

// TestAnAgentThatLies promises in each run; only the third promise is true. How an agent is told
// of that is no matter of which one: TestLoops wants both to be told something.
func TestAnAgentThatLies(t *testing.T) {
	t.Parallel()
	p := prepare(t, pi, fakemodel.Script{Turns: slices.Concat(pi.lies(1), pi.lies(2), pi.lies(3))})
	p.start("--max-iterations", "9", "--completion-promise", "DONE", "--verify", third, prompt)
	if exit, end := p.wait(), p.end(); exit != exitDone || end.StopReason != "promise" || end.Iterations != 3 {
		p.fatalf("exit %d, %s", exit, end.line)
	}
	if got := p.verdicts(); !slices.Equal(got, []string{"command refuted", "command refuted", "command verified"}) {
		p.fatalf("got %q", got)
	}
	told := 0
	for _, r := range p.model.MainRequests() {
		if strings.Contains(r.LastUser, prompt) && strings.Contains(r.System, "failed (exit 1): TestParse") {
			told++
		}
	}
	if told != 2 {
		t.Errorf("%d runs were told what failed, want 2", told)
	}
	proctest.CheckNone(t, goneWithin, p.mark)
}

// reviewedBy is a loop of one agent that another one reviews.
func reviewedBy(t *testing.T, a, reviewer agent, turns ...fakemodel.Turn) *program {
	t.Helper()
	p := prepare(t, a, fakemodel.Script{Turns: turns}, reviewer)
	args := make([]string, len(reviewer.args))
	for i, arg := range reviewer.args {
		args[i] = fmt.Sprintf("%q", arg)
	}
	file := filepath.Join(p.box.Home, ".config", "ralph-lsp", "config.toml")
	text := fmt.Sprintf("[verify]\ncommand = [\"test\", \"-e\", \"a.txt\"]\nreviewer = \"critic\"\n[hats.critic]\nbackend = { type = %q, args = [%s] }\n",
		reviewer.backend, strings.Join(args, ", "))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// asReviewer is a turn for the reviewer alone.
func asReviewer(turn fakemodel.Turn) fakemodel.Turn {
	turn.Match = "You review what another agent did"
	return turn
}

// TestAReviewerOnTheOtherBackend objects once.
func TestAReviewerOnTheOtherBackend(t *testing.T) {
	t.Parallel()
	a, reviewer := claude, pi // and the other way round below
	p := reviewedBy(t, a, reviewer,
		asReviewer(says("a.txt has 1, it needs 2.")), asReviewer(says("Fine.\n\n<promise>APPROVED</promise>")),
		does(a.write("a.txt", "1\n")), says("<promise>DONE</promise>"),
		does(a.write("a.txt", "2\n")), says("<promise>DONE</promise>"))
	p.start("--max-iterations", "5", "--completion-promise", "DONE", prompt)
	if exit, end := p.wait(), p.end(); exit != exitDone || end.StopReason != "promise" || end.Iterations != 2 {
		p.fatalf("exit %d, %s", exit, end.line)
	}
	if got := p.verdicts(); !slices.Equal(got, []string{"command verified", "reviewer refuted", "command verified", "reviewer verified"}) {
		p.fatalf("got %q", got)
	}
	var iterations, reviews float64
	shown := false
	for _, u := range p.all() {
		switch {
		case u.SessionUpdate == "_ralph/iteration" && u.Phase == "end" && u.CostUSD != nil:
			iterations += *u.CostUSD
		case u.SessionUpdate == "_ralph/verify" && u.CostUSD != nil:
			reviews += *u.CostUSD
		case u.SessionUpdate == "agent_message_chunk" && strings.HasPrefix(u.Parent, "review-1-"):
			shown = shown || strings.Contains(u.line, "it needs 2")
		}
	}
	if total := *p.end().CostUSD; reviews <= 0 || total < iterations+reviews-1e-6 || total > iterations+reviews+1e-6 {
		t.Errorf("the loop cost %v, its iterations %v, its reviews %v", total, iterations, reviews)
	}
	if !shown {
		t.Error("what the reviewer said isn't shown")
	}
	sawDiff, told := false, false
	for _, r := range p.model.MainRequests() {
		sawDiff = sawDiff || strings.Contains(string(r.Body), "+2") && strings.Contains(r.LastUser, "You review")
		told = told || strings.Contains(r.System, "a.txt has 1, it needs 2.")
	}
	if !sawDiff || !told {
		t.Errorf("the reviewer saw the diff: %v; the next run was told: %v", sawDiff, told)
	}
	proctest.CheckNone(t, goneWithin, p.mark)
	if t.Failed() {
		p.show()
	}
}

// TestALoopThatIsKilledInMidReview goes on with the verification.
func TestALoopThatIsKilledInMidReview(t *testing.T) {
	t.Parallel()
	p := reviewedBy(t, pi, claude,
		asReviewer(fakemodel.Turn{HangMS: never, Text: "never"}), asReviewer(says("<promise>APPROVED</promise>")),
		does(pi.write("a.txt", "1\n")), says("<promise>DONE</promise>"))
	p.start("--max-iterations", "5", "--completion-promise", "DONE", prompt)
	p.await("review", func(u update) bool { return u.Gate == "reviewer" && u.State == "running" })
	isAsked := func(r fakemodel.Request) bool { return strings.Contains(r.LastUser, "You review") }
	proctest.Until(t, "the reviewer's model is asked", func() bool { return slices.ContainsFunc(p.model.MainRequests(), isAsked) })
	p.crash()
	<-p.exited
	proctest.CheckNone(t, goneWithin, p.mark)
	p = p.again()
	if exit, end := p.wait(), p.end(); exit != exitDone || end.StopReason != "promise" || end.Iterations != 1 {
		p.fatalf("exit %d, %s", exit, end.line)
	}
	if got := p.verdicts(); !slices.Equal(got, []string{"command verified", "reviewer verified"}) {
		p.fatalf("got %q", got)
	}
}
