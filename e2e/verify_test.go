//go:build e2e

package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// verdicts are what the gates said, in order: "command refuted".
func (p *program) verdicts() (all []string) {
	for _, u := range p.all() {
		if u.SessionUpdate == "_ralph/verify" && u.State != "running" {
			all = append(all, u.Gate+" "+u.State)
		}
	}
	return all
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
	must.Write(t, file, text)
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
