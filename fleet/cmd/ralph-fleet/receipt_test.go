package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

func TestTheStatusOfALoopThatEndedHasItsReceipt(t *testing.T) {
	y := newYard(t)
	y.put("f1", "one")
	y.put("f2", "two")
	left := loop.End{Reason: loop.StopOnce, Iterations: 1}
	done := loop.End{Reason: loop.StopMaxIterations, Iterations: 2, Cost: stream.USD(0.2), Prompt: "Mend it.\n\nBe quick."}
	done.Account.Commits.Add("1a2b3c4d5 Mend it")
	done.Account.Refused.Add("Bash git push", "Bash git push")
	end := func(e loop.End) string { return string(lsptest.JSON(new(wire.Projector).Loop(e))) }
	y.begin("f1", "box")
	y.commit("f1", 1, fleet.Outcome{Iterations: 1, HasState: true}, begins(1), ends(1), end(left))
	if _, out := y.run("status", "one"); strings.Contains(out, "result") {
		t.Errorf("it isn't over: %s", out)
	}
	y.begin("f1", "box")
	y.commit("f1", 2, fleet.Outcome{Iterations: 2, CostUSD: 0.2, HasState: true, StopReason: "max_iterations", Text: "stopped: iteration limit reached"}, begins(2), ends(2), end(done))
	code, out := y.run("status", "one")
	want := regexp.MustCompile(`(?m)^  ended +20.*
  result +stopped: iteration limit reached
  asked +Mend it\.
 +Be quick\.
  commits +1a2b3c4d5 Mend it
  refused +Bash git push \(2 times\)
  ralph-fleet resume f1.*  goes on
  ralph-fleet fetch f1.*  fetches a branch with its work
  ralph-fleet watch --now f1.*  shows what it did$`)
	if code != 0 || !want.MatchString(out) {
		t.Errorf("%d: %s", code, out)
	}
	if _, out := y.run("status", "one", "--json"); !strings.Contains(out, `"last":{"loopId":"f1",`) || !strings.Contains(out, `{"label":"Refused","text":"Bash git push (2 times)"}`) {
		t.Errorf("for programs: %s", out)
	}
	if _, out := y.run("status"); strings.Contains(out, "refused") {
		t.Errorf("of all: %s", out)
	}
	y.change("f2", func(r *fleet.Record) { r.Phase, r.StopReason = fleet.Ended, string(loop.StopCancelled) })
	if code, out := y.run("status", "two"); code != 0 || !strings.Contains(out, "  result    cancelled\n  ralph-fleet watch --now f2") {
		t.Errorf("one that never began: %d, %s", code, out)
	}
}
