package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/budget"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// A bubble's clock begins at midnight, UTC, on the Saturday that opened the year 2000.

// under gives a loop a budget, which its user may change meanwhile.
func under(limits *budget.Limits, path string) func(*setup.Config) {
	return func(c *setup.Config) {
		c.Limits.MaxIterations, c.Limits.IdleTimeout, c.Limits.MaxDuration = 9, 0, 0
		c.Budget = budget.Book{Ledger: budget.Ledger{Path: path}, Limits: *limits}
	}
}

// rereads is a process that reads its user's budget again.
func rereads(limits *budget.Limits) setup.Host {
	return setup.Host{Budget: func() (budget.Limits, error) { return *limits, nil }}
}

// Days end at midnight of UTC here. A timer that fires reads the zone, so it is set before any is there.
func init() { time.Local = time.UTC }

// Two loops spend from one budget. They pause when it is used, go on after midnight, and again when
// it is raised.
func TestTwoLoopsSpendFromOneBudget(t *testing.T) {
	bubble(t, func(t *testing.T) {
		time.Sleep(23*time.Hour + 30*time.Minute)
		limits, path := budget.Limits{PerDay: 3}, filepath.Join(t.TempDir(), "spent.json")
		a := prepare(t, nil, under(&limits, path), pricedRun(1), pricedRun(1), pricedRun(1), promise).by(t, rereads(&limits))
		b := prepare(t, nil, under(&limits, path), withTime(pricedRun(1), 10*time.Minute), withTime(pricedRun(1), 30*time.Minute), promise)
		b.host = rereads(&limits)
		b.id = "ralph-b"
		must.OK(t, b.begin())
		const why = "your budget of $3.00 a day is used ($3.00): resume after midnight, or raise budget.per_day in your config.toml"
		st := a.waitFor(loop.StatePaused)
		if len(a.agents.specs) != 3 || st.OverBudget != why || !a.log.has("state paused budget") || !a.log.has("warning: "+why) {
			t.Fatalf("paused after %d runs: %+v\n%s", len(a.agents.specs), st, strings.Join(a.log.lines, "\n"))
		}
		left, _ := a.file.Load()
		if seen := loop.StatusOf(left, "", "", true); left.Active || seen.OverBudget != why {
			t.Errorf("another process sees %+v", seen)
		}
		a.Resume(loop.Patch{})
		if st := a.waitFor(loop.StatePaused); len(a.agents.specs) != 3 || st.OverBudget == "" {
			t.Errorf("nothing was raised, and it goes on: %+v", st)
		}
		time.Sleep(20 * time.Minute)
		if st := b.waitFor(loop.StatePaused); len(b.agents.specs) != 1 || !strings.Contains(st.OverBudget, "($4.00)") {
			t.Errorf("the other one: %d runs, %+v", len(b.agents.specs), st)
		}
		limits.PerDay = 4.5
		b.Resume(loop.Patch{})
		b.waitFor(loop.StateRunning)
		time.Sleep(20 * time.Minute) // another day
		a.Resume(loop.Patch{})
		if end := a.over(loop.StopPromise, 4); end.Cost.USD != 3 {
			t.Errorf("got %+v", end)
		}
		b.over(loop.StopPromise, 3)
	})
}

// A run is stopped after the answer that used the budget up. That is no failure, the iteration
// counts, and a promise in it does too.
func TestARunThatUsesTheBudgetUp(t *testing.T) {
	for _, done := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			limits, path := budget.Limits{PerWeek: 2}, filepath.Join(t.TempDir(), "spent.json")
			greedy := costs(3, "no")
			if done {
				greedy = costs(3, "<promise>DONE</promise>")
			}
			r := prepare(t, nil, under(&limits, path), greedy, promise).by(t, rereads(&limits))
			if done {
				r.over(loop.StopPromise, 1)
				return
			}
			st := r.waitFor(loop.StatePaused)
			if st.Iteration != 1 || !strings.HasPrefix(st.OverBudget, "your budget of $2.00 a week is used ($3.00): resume on Monday") {
				t.Errorf("got %+v\n%s", st, strings.Join(r.log.lines, "\n"))
			}
			limits = budget.Limits{}
			r.Resume(loop.Patch{})
			r.over(loop.StopPromise, 2)
		})
	}
}

// The budget that an agent is told is what is left of both.
func TestWhatAnAgentIsTold(t *testing.T) {
	bubble(t, func(t *testing.T) {
		limits, path := budget.Limits{PerDay: 3}, filepath.Join(t.TempDir(), "spent.json")
		broke := costs(1, "no")
		broke.result.Failure = &stream.Error{Kind: stream.KindBudget, Message: "the budget is spent"}
		r := start(t, func(c *setup.Config) {
			under(&limits, path)(c)
			c.Limits.MaxCostUSD, c.Backend.BudgetFlag = 10, "--budget"
		}, broke, promise)
		end := r.over(loop.StopPromise, 2) // by its own count there is something left
		if end.Iterations != 2 || !r.log.has("end 1 cancelled") || r.log.has("state waiting") {
			t.Errorf("it is taken for a failure: %+v\n%s", end, strings.Join(r.log.lines, "\n"))
		}
		if args := strings.Join(r.agents.specs[0].Ours, " "); !strings.Contains(args, "--budget 3") {
			t.Errorf("told %s", args)
		}
	})
}

// Nothing starts when the budget is used, or nobody knows; a loop that is left alone pauses.
func TestNothingStartsWithoutMoney(t *testing.T) {
	bubble(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "spent.json")
		l := budget.Ledger{Path: path}
		for _, usd := range []float64{0, 5} {
			must.OK(t, must.Err(l.Count("x", usd, time.Now())))
		}
		cfg := setup.Config{Prompt: "x", Budget: budget.Book{Ledger: l, Limits: budget.Limits{PerDay: 5}}}
		if err := cfg.Check(); err == nil || !strings.HasPrefix(err.Error(), "your budget of $5.00 a day is used") {
			t.Errorf("started: %v", err)
		}
		must.OK(t, os.WriteFile(path, []byte("{"), 0o600))
		if err := cfg.Check(); err == nil || !strings.Contains(err.Error(), "no loop runs under a budget without it") {
			t.Errorf("started: %v", err)
		}
		limits := budget.Limits{PerDay: 5}
		r := prepare(t, nil, under(&limits, path), promise).by(t, rereads(&limits))
		if st := r.waitFor(loop.StatePaused); !strings.Contains(st.OverBudget, "remove it to count from 0 again") || len(r.agents.specs) != 0 {
			t.Errorf("got %+v", st)
		}
		os.Remove(path)
		r.Resume(loop.Patch{})
		r.over(loop.StopPromise, 1)
	})
}

func TestUnknownCostUnderABudget(t *testing.T) {
	bubble(t, func(t *testing.T) {
		limits, path := budget.Limits{PerDay: 3}, filepath.Join(t.TempDir(), "spent.json")
		bad := unpricedRun()
		r := prepare(t, nil, under(&limits, path), bad, bad, bad, promise).by(t, rereads(&limits))
		if st := r.waitFor(loop.StatePaused); st.OverBudget != "what 3 runs in a row cost is unknown, so your budget can't be enforced" || len(r.agents.specs) != 3 {
			t.Errorf("got %+v", st)
		}
		if !r.log.has("warning: what iteration 1 has cost is unknown, so it doesn't count against your budget; after 3 such runs in a row the loop pauses (--max-unknown-cost-runs)") {
			t.Error(strings.Join(r.log.lines, "\n"))
		}
		r.Resume(loop.Patch{})
		r.over(loop.StopPromise, 4)
	})
}
