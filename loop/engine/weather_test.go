package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/limited"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// unreachable is a run of an agent that tries to reach its provider for a while.
func unreachable(lasts time.Duration) run {
	return withTime(fails(stream.KindNetwork, "connect ECONNREFUSED 192.0.2.1:443"), lasts)
}

// A provider that can't be reached for an hour costs no limit anything.
func TestTheNetworkIsWaitedFor(t *testing.T) {
	bubble(t, func(t *testing.T) {
		runs := []run{says("a step")}
		for range 20 {
			runs = append(runs, unreachable(2*time.Minute))
		}
		r := start(t, func(c *setup.Config) {
			c.Limits.MaxFailures, c.Limits.MaxIterations, c.Limits.MaxDuration = 1, 3, 3*time.Minute
		}, append(runs, says("another step"), says("<promise>DONE</promise>"))...)
		end := r.over(loop.StopPromise, 23)
		if end.Iterations != 3 {
			t.Errorf("%d iterations", end.Iterations)
		}
		want := []time.Duration{0, 5, 10, 20, 40, 80, 160, 300, 300}
		for i, gap := range r.gaps(2 * time.Minute)[1:9] {
			if gap = gap.Round(time.Second); gap != want[i+1]*time.Second {
				t.Errorf("pause %d is %v, want %v s", i+1, gap, want[i+1])
			}
		}
		if n := r.log.count("the provider can't be reached since "); n != 1 {
			t.Errorf("told %d times:\n%s", n, strings.Join(r.log.lines, "\n"))
		}
		if !r.log.has("the provider is reached again, after 1h55m") {
			t.Errorf("its end isn't told:\n%s", strings.Join(r.log.lines, "\n"))
		}
	})
}

// An agent that has never reached anybody asks the wrong host: that is a failure as any other.
func TestAnAgentThatNeverReachedItsProviderFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, nil, unreachable(time.Second))
		if end := r.over(loop.StopFailures, 5); !strings.Contains(end.Error, "ECONNREFUSED") {
			t.Errorf("it ended for %q", end.Error)
		}
	})
	bubble(t, func(t *testing.T) { // it worked, and then the network went
		broken := unreachable(time.Second)
		broken.result.ToolCalls = 1
		r := start(t, func(c *setup.Config) { c.Limits.MaxFailures = 1 }, broken, says("<promise>DONE</promise>"))
		r.over(loop.StopPromise, 2)
	})
}

// A loop that is taken up knows whether it has worked, and how long it has waited.
func TestTheNetworkAcrossCrashes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		away := unreachable(time.Second)
		r := start(t, nil, says("a step"), away, away, withTime(says("no"), time.Hour))
		time.Sleep(10 * time.Minute)
		left := r.killed()
		if left.InARow.Unreached != 2 || left.InARow.Failures != 0 || left.Iteration != 2 {
			t.Errorf("the file says %+v", left)
		}
		r, err := after(t, left, away, says("<promise>DONE</promise>"))
		must.OK(t, err)
		r.over(loop.StopPromise, 2)
		if gap := r.gaps(time.Second)[0].Round(time.Second); gap != 20*time.Second {
			t.Errorf("the third pause is %s", gap)
		}
	})
}

// Nobody but its user can fill an account, so the loop pauses instead of knocking, and fails nothing.
func TestAnAccountWithoutCredits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		broke := fails(stream.KindQuota, "Credit balance is too low")
		r := start(t, func(c *setup.Config) { c.Limits.MaxFailures, c.Limits.MaxIterations = 1, 1 }, broke, broke, says("<promise>DONE</promise>"))
		for range 2 {
			st := r.waitFor(loop.StatePaused)
			const why = "the account of pi has no credits left, so add some, then resume the loop: Credit balance is too low"
			if st.OverBudget != why {
				t.Errorf("it pauses for %q", st.OverBudget)
			}
			if left, _ := r.file.Load(); left.Active || left.OverBudget != why || left.InARow.Failures != 0 || left.Iteration != 1 {
				t.Errorf("the state file: %+v", left)
			}
			r.Resume(loop.Patch{})
		}
		if end := r.over(loop.StopPromise, 3); end.Iterations != 1 {
			t.Errorf("%d iterations", end.Iterations)
		}
		if n := r.log.count("state paused quota"); n != 2 {
			t.Errorf("paused %d times:\n%s", n, strings.Join(r.log.lines, "\n"))
		}
	})
}

// The second loop doesn't knock where the first was refused, unless its user wants that.
func TestLoopsShareWhatTheyKnowOfAnAccount(t *testing.T) {
	bubble(t, func(t *testing.T) {
		accounts := limited.Folder{Path: t.TempDir()}
		share := func(c *setup.Config) { c.Accounts = accounts }
		refused := fails(stream.KindRateLimit, "429")
		refused.result.Failure.ResetsAt = time.Now().Add(3 * time.Hour)
		done := says("<promise>DONE</promise>")
		began := time.Now()
		first := start(t, share, refused, done)
		first.waitFor(loop.StateWaiting)
		second := start(t, share, done)
		st := second.waitFor(loop.StateWaiting)
		if n := len(second.agents.specs); n != 0 || st.Retry.Reason != loop.WaitRateLimit || !second.log.has("the account of pi is limited until ") {
			t.Errorf("it has asked %d times, and waits for %s:\n%s", n, st.Retry.Reason, strings.Join(second.log.lines, "\n"))
		}
		other := start(t, func(c *setup.Config) { share(c); c.Model = "another" }, done)
		other.over(loop.StopPromise, 1)
		second.Resume(loop.Patch{})
		second.over(loop.StopPromise, 1) // and so it isn't limited any more
		third := start(t, share, done)
		third.over(loop.StopPromise, 1)
		if took := time.Since(began); took > time.Hour {
			t.Errorf("it took %s", took)
		}
		first.over(loop.StopPromise, 2)
		if gap := first.gaps(time.Second)[0]; gap < 3*time.Hour {
			t.Errorf("the first one waited %s", gap)
		}
	})
}
