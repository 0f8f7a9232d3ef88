package engine

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// unpricedRun is one that works and doesn't say what that cost.
func unpricedRun() run {
	return run{lasts: 5 * time.Second, result: stream.Result{Text: "more to do", ToolCalls: 1, Lines: 3}}
}

func pricedRun(usd float64) run {
	r := unpricedRun()
	r.result.Usage.Cost = stream.USD(usd)
	return r
}

// waitFor sleeps until the loop is in a state.
func (r *rig) waitFor(state loop.State) loop.Status {
	r.t.Helper()
	for range 1000 {
		synctest.Wait()
		if st := r.Status(); st.State == state {
			return st
		}
		time.Sleep(time.Second)
	}
	r.t.Fatalf("it is never %s:\n%s", state, strings.Join(r.log.lines, "\n"))
	return loop.Status{}
}

// Nobody can keep a cap of what nobody tells: that is told once, and pauses the loop. To go on
// counts anew, and a run that tells its cost does so too.
func TestRunsOfUnknownCostUnderACapPauseTheLoop(t *testing.T) {
	bubble(t, func(t *testing.T) {
		bad, good := unpricedRun(), pricedRun(0.01)
		r := start(t, func(c *setup.Config) { c.Limits.MaxCostUSD, c.Limits.MaxIterations = 1, 9 }, bad, bad, good, bad, bad, bad, bad, good, bad)
		st := r.waitFor(loop.StatePaused)
		if len(r.agents.specs) != 6 || st.Unpriced != 3 || st.UnknownCosts != 5 || !r.log.has("state paused unknown_cost") {
			t.Fatalf("paused after %d runs: %+v\n%s", len(r.agents.specs), st, strings.Join(r.log.lines, "\n"))
		}
		const told = "warning: what iteration 1 has cost is unknown, so it doesn't count against the cost cap; after 3 such runs in a row the loop pauses (--max-unknown-cost-runs)"
		if n := r.log.count("has cost is unknown"); n != 1 || !r.log.has(told) {
			t.Errorf("told %d times:\n%s", n, strings.Join(r.log.lines, "\n"))
		}
		if left, _ := r.file.Load(); left.Active || left.InARow.UnknownCosts != 3 || left.UnknownCosts != 5 {
			t.Errorf("the state file: %+v", left)
		} else if seen := loop.StatusOf(left, "", "", true); seen.Unpriced != 3 || seen.UnknownCosts != 5 || seen.State != loop.StatePaused {
			t.Errorf("another process sees %+v", seen)
		}
		r.Resume(loop.Patch{})
		end := r.over(loop.StopMaxIterations, 9)
		if end.Unknown != 7 || end.Cost.USD != 0.02 || r.Status().Unpriced != 0 {
			t.Errorf("got %+v", end)
		}
	})
}

// Nobody who looks: it ends, and can go on. A program that runs one iteration at a time is left
// with a loop that pauses.
func TestWhoPausesForUnknownCost(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, func(c *setup.Config) { c.Limits.MaxCostUSD, c.Asking.Unanswered = 1, 30*time.Minute }, unpricedRun(),
			unpricedRun(), unpricedRun())
		const why = "what 3 runs in a row cost is unknown, so the cost cap can't be enforced"
		if end := r.over(loop.StopUnanswered, 3); end.Problem() != why {
			t.Errorf("got %q", end.Problem())
		}
		left, err := r.file.Load()
		must.OK(t, err)
		again := prepare(t, &left, func(c *setup.Config) { c.Continue = true }, unpricedRun(), unpricedRun(), promise)
		must.OK(t, again.begin())
		again.over(loop.StopPromise, 3)
	})
	bubble(t, func(t *testing.T) {
		found := loopstate.State{Active: true, Iteration: 3, Prompt: "x", Values: settings.Values{Given: limits.Given{Promise: new("DONE")}}, InARow: loopstate.InARow{UnknownCosts: 2}, Spent: loopstate.Spent{UnknownCosts: 2}, Begun: false}
		found.MaxCostUSD = new(1.0)
		r := prepare(t, &found, func(c *setup.Config) { c.Continue, c.Once = true, true }, unpricedRun())
		must.OK(t, r.begin())
		r.over(loop.StopOnce, 1)
		left, err := r.file.Load()
		if err != nil || left.Active || left.InARow.UnknownCosts != 3 {
			t.Fatalf("it left %+v, %v", left, err)
		}
		again := prepare(t, &left, func(c *setup.Config) { c.Continue, c.Once = true, true }, unpricedRun())
		must.OK(t, again.begin())
		again.over(loop.StopOnce, 1)
		if left, _ := again.file.Load(); !left.Active || left.InARow.UnknownCosts != 1 || left.UnknownCosts != 4 {
			t.Errorf("it left %+v", left)
		}
	})
}
