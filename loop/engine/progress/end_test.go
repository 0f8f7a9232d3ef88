package progress

import (
	"testing"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
)

// An end names what came again and again, where that may be why the loop isn't done.
func TestAnEndNamesItsCause(t *testing.T) {
	const refused = `the agent was refused Bash(git push) 2 times; allow it with --backend-arg, or change the prompt`
	for _, tt := range []struct {
		why           loop.StopReason
		problem       string
		times         int
		want, circles string
	}{
		{loop.StopFailures, "it exited with 1", 2, "it exited with 1; " + refused, "no progress: " + refused},
		{loop.StopUnverified, "make test: 1 failed", 2, "make test: 1 failed; " + refused, "no progress: " + refused},
		{loop.StopStalled, "it said nothing for 10m", 2, "it said nothing for 10m; " + refused, "no progress: " + refused},
		{loop.StopStalled, "", 2, refused, "no progress: " + refused},
		{loop.StopFailures, "it exited with 1", 1, "it exited with 1", "no progress"},
		{loop.StopUnauthorized, "not logged in", 2, "not logged in", "no progress: " + refused},
		{loop.StopMaxIterations, "it exited with 1", 2, refused, "no progress: " + refused},
		{loop.StopPromise, "it exited with 1", 2, "", "no progress: " + refused},
	} {
		var p State
		for range tt.times {
			p.Totals.Refused.Add("Bash(git push)")
		}
		if got := p.EndOf(tt.why, judge.Report{Problem: tt.problem}); got.Error != tt.want {
			t.Errorf("%s after %q, refused %d times: %q, want %q", tt.why, tt.problem, tt.times, got.Error, tt.want)
		}
		if got := p.Stagnated("no progress"); got != tt.circles {
			t.Errorf("refused %d times, it says %q, want %q", tt.times, got, tt.circles)
		}
	}
}

// An end names what is left to do, and a check that never passes, unless it says so itself.
func TestAnEndNamesWhatIsLeft(t *testing.T) {
	p := State{Pending: &ask.Pending{}}
	p.LastRead.Queue.Pending = []hats.Topic{{Name: "plan.ready", From: "planner"}}
	if got, want := p.EndOf(loop.StopMaxIterations, judge.Report{}).Error, "no hat has worked on 1 topic yet (plan.ready from planner); let it go on for longer"; got != want {
		t.Errorf("with a topic: %q, want %q", got, want)
	}
	p.Counts.Refuted, p.Verification.Refutation = 3, "The last run said that all is done. That was checked, and it isn't: `make test` failed."
	for why, want := range map[loop.StopReason]string{
		loop.StopMaxIterations: "3 promises in a row were refuted: `make test` failed; see whether that check can pass",
		loop.StopUnverified:    "make test failed",
	} {
		if got := p.EndOf(why, judge.Report{Problem: "make test failed"}).Error; got != want {
			t.Errorf("%s: %q, want %q", why, got, want)
		}
	}
	if got := p.Snapshot().Cause; got != "3 promises in a row were refuted: `make test` failed; see whether that check can pass" {
		t.Errorf("the status says %q", got)
	}
}
