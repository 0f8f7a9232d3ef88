package engine

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// patience bounds every wait: only what hangs takes longer.
const patience = proctest.Patience

func TestUntilThePromise(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, nil, says("not yet"), says("<promise>ALMOST</promise>"), says("<promise>DONE</promise>"))
		end := r.over(loop.StopPromise, 3)
		if end.Promise != "DONE" || end.Iterations != 3 {
			t.Errorf("got %+v", end)
		}
		if !r.log.has("near miss:") {
			t.Error("the near miss was not reported")
		}
		if _, err := r.file.Load(); !errors.Is(err, fs.ErrNotExist) {
			t.Error("the state file is still there")
		}
		if r.Status().State != loop.StateEnded || r.Status().StopReason != loop.StopPromise {
			t.Errorf("status %+v", r.Status())
		}
	})
}

func TestCaps(t *testing.T) {
	limit := func(change func(*loop.Limits)) func(*setup.Config) {
		return func(c *setup.Config) { change(&c.Limits) }
	}
	for name, tt := range map[string]struct {
		limits func(*setup.Config)
		run    run
		why    loop.StopReason
		runs   int
	}{
		"iterations":                 {limit(func(l *loop.Limits) { l.MaxIterations = 4 }), says("no"), loop.StopMaxIterations, 4},
		"the promise in the last":    {limit(func(l *loop.Limits) { l.MaxIterations = 1 }), says("<promise>DONE</promise>"), loop.StopPromise, 1},
		"cost between runs":          {limit(func(l *loop.Limits) { l.MaxCostUSD = 2.5 }), costs(1, "no"), loop.StopMaxCost, 3},
		"cost told after the turn":   {limit(func(l *loop.Limits) { l.MaxCostUSD = 1 }), withTime(turnFirst(costs(1, "no")), time.Hour), loop.StopMaxCost, 1},
		"cost of a tool at work":     {limit(func(l *loop.Limits) { l.MaxCostUSD = 1 }), withTime(delegates(1), time.Hour), loop.StopMaxCost, 1},
		"cost before a long tool":    {limit(func(l *loop.Limits) { l.MaxCostUSD = 1 }), withTime(callsAtCost(1), time.Hour), loop.StopMaxCost, 1},
		"cost in mid-run":            {limit(func(l *loop.Limits) { l.MaxCostUSD = 1 }), withTime(costs(1, "no"), time.Hour), loop.StopMaxCost, 1},
		"the promise beats the cost": {limit(func(l *loop.Limits) { l.MaxCostUSD = 1 }), withTime(costs(1, "<promise>DONE</promise>"), time.Hour), loop.StopPromise, 1},
		"time between runs":          {limit(func(l *loop.Limits) { l.MaxDuration = 2500 * time.Millisecond }), says("no"), loop.StopMaxTime, 3},
		"time in mid-run":            {limit(func(l *loop.Limits) { l.MaxDuration = time.Minute; l.IdleTimeout = 0 }), withTime(says("no"), time.Hour), loop.StopMaxTime, 1},
		"failures":                   {nil, fails(stream.KindServer, "500"), loop.StopFailures, 5},
		"silence":                    {nil, withTime(says("no"), time.Hour), loop.StopStalled, 2},
		"permission denied":          {nil, run{result: stream.Result{Denials: []stream.Denial{{Tool: "Bash"}}}}, loop.StopPermissionDenied, 2},
		"the agent's own budget":     {limit(func(l *loop.Limits) { l.MaxCostUSD = 5 }), fails(stream.KindBudget, "budget"), loop.StopMaxCost, 1},
		"never starts":               {nil, run{silent: true, code: 1}, loop.StopBackendError, 3},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := start(t, tt.limits, tt.run)
				end := r.over(tt.why, tt.runs)
				state, err := r.file.Load()
				kept := tt.why.Failed()
				if strings.HasPrefix(name, "cost") && time.Duration(end.Duration) > 10*time.Second {
					t.Errorf("it was ended after %v", end.Duration)
				}
				if kept != (err == nil) || kept && state.Active {
					t.Errorf("the state file: %+v, %v", state, err)
				}
				if failed := !tt.why.Capped() && tt.why != loop.StopPromise && tt.why != loop.StopPermissionDenied; failed && end.Error == "" {
					t.Error("the end doesn't say why")
				}
			})
		})
	}
}

func TestTheStatusTellsOfASilentAgent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		agent := withTime(says("no"), 20*time.Minute)
		r := start(t, func(c *setup.Config) { c.Limits.MaxIterations, c.Limits.IdleTimeout = 1, 0 }, agent)
		time.Sleep(loop.SilentAfter - time.Second)
		if s := r.Status(); !s.SilentSince().IsZero() {
			t.Errorf("too early: %+v", s)
		}
		time.Sleep(2 * time.Second)
		if s := r.Status(); time.Since(s.SilentSince()) < loop.SilentAfter || s.SilentSince() != s.LastSign {
			t.Errorf("not told: %v", s.SilentSince())
		}
		r.over(loop.StopMaxIterations, 1)
	})
}

// turnFirst tells of the turn's end before its cost.
func turnFirst(r run) run {
	slices.Reverse(r.events)
	return r
}

// delegates is a run whose tool spends money by itself, and has not come to its end.
func delegates(usd float64) run {
	usage := stream.Usage{Cost: stream.USD(usd)}
	return run{
		events: []stream.Event{stream.Text{Delta: "I ask another one."}, stream.ToolCall{ID: "t1", Name: "delegate"}, usage},
		result: stream.Result{Usage: usage},
	}
}

// callsAtCost is a run that has paid for a message, and whose tool goes on and on.
func callsAtCost(usd float64) run {
	r := delegates(usd)
	slices.Reverse(r.events[1:])
	return r
}

func withTime(r run, lasts time.Duration) run {
	r.lasts = lasts
	return r
}

func TestARateLimitIsWaitedFor(t *testing.T) {
	bubble(t, func(t *testing.T) {
		resets := time.Now().Add(3 * time.Hour)
		limited := fails(stream.KindRateLimit, "limit")
		limited.result.Rejected = &stream.Quota{Window: "five_hour", ResetsAt: resets, Rejected: true}
		r := start(t, func(c *setup.Config) { c.Limits.MaxIterations, c.Limits.MaxFailures = 1, 1 }, limited, says("<promise>DONE</promise>"))
		synctest.Wait()
		time.Sleep(time.Minute)
		if st := r.Status(); st.State != loop.StateWaiting || !st.Retry.ResumeAt.Equal(resets.Add(judge.RateLimitSlack)) {
			t.Errorf("status %+v, retry %+v", st.State, st.Retry)
		}
		if state, _ := r.file.Load(); !state.ResumeAt.Equal(resets.Add(judge.RateLimitSlack)) || state.Iteration != 1 {
			t.Errorf("the state file doesn't tell of the wait: %+v", state)
		}
		r.over(loop.StopPromise, 2) // neither an iteration nor a failure
		if waited := r.agents.times[1]; waited.Before(resets) || waited.After(resets.Add(2*time.Minute)) {
			t.Errorf("went on at %v, limit until %v", waited, resets)
		}
	})
}

func TestResumeEndsAWait(t *testing.T) {
	for name, resume := range map[string]func(*rig){
		"here":                 func(r *rig) { r.Resume(loop.Patch{}) },
		"and cancel ends both": func(r *rig) { r.Cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := start(t, nil, fails(stream.KindRateLimit, "429"), says("<promise>DONE</promise>"))
				time.Sleep(10 * time.Second)
				resume(r)
				<-r.engine.ending.done
				if took := time.Since(r.agents.times[0]); took > 20*time.Second {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

func TestCancel(t *testing.T) {
	for name, tt := range map[string]struct {
		stop   func(*rig)
		why    loop.StopReason
		within time.Duration
		kept   bool
	}{
		"cancel":            {func(r *rig) { r.Cancel() }, loop.StopCancelled, backends.Grace, false},
		"kill":              {func(r *rig) { r.Kill() }, loop.StopCancelled, 0, false},
		"the file is gone":  {func(r *rig) { r.file.Remove() }, loop.StopStateRemoved, backends.Grace, false},
		"the editor's gone": {func(r *rig) { r.Interrupt() }, loop.StopInterrupted, backends.QuickGrace, true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				stubborn := withTime(says("no"), time.Hour)
				stubborn.deaf = true
				r := start(t, nil, says("no"), stubborn)
				time.Sleep(10 * time.Second)
				begin := time.Now()
				tt.stop(r)
				r.over(tt.why, 2)
				if took := time.Since(begin); took > tt.within+50*time.Millisecond {
					t.Errorf("took %v", took)
				}
				state, err := r.file.Load()
				if tt.kept != (err == nil) || tt.kept && (!state.Active || state.Iteration != 2) {
					t.Errorf("the state file: %+v, %v", state, err)
				}
			})
		})
	}
}

func TestKillAfterCancelHastens(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, nil, says("no"), withTime(says("no"), time.Hour))
		time.Sleep(10 * time.Second)
		go r.Cancel()
		synctest.Wait()
		r.Kill()
		if end := r.Wait(); end.Reason != loop.StopCancelled {
			t.Errorf("got %+v", end)
		}
	})
}

func TestPauseAndResume(t *testing.T) {
	for name, tt := range map[string]struct{ pause, resume func(*rig) }{
		"here": {func(r *rig) { r.Pause() }, func(r *rig) { r.Resume(loop.Patch{}) }},
		"through the file": {
			func(r *rig) { r.file.edit(func(s *loopstate.State) { s.Active = false }) },
			func(r *rig) { r.file.edit(func(s *loopstate.State) { s.Active = true }) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := start(t, nil, withTime(says("no"), time.Minute), says("<promise>DONE</promise>"))
				time.Sleep(time.Second)
				tt.pause(r)
				if synctest.Wait(); !r.Status().Pausing {
					t.Error("the status doesn't say that it will pause")
				}
				time.Sleep(10 * time.Hour) // the iteration ends; time in pause doesn't count
				if st := r.Status(); st.State != loop.StatePaused || st.Pausing || len(r.agents.specs) != 1 {
					t.Errorf("%s after %d runs", st.State, len(r.agents.specs))
				}
				tt.resume(r)
				r.over(loop.StopPromise, 2)
			})
		})
	}
}

func TestLimitsChangeWhileItRuns(t *testing.T) {
	for name, change := range map[string]func(*rig){
		"here": func(r *rig) { n := 2; r.Update(loop.Patch{Given: limits.Given{MaxIterations: &n}}) },
		"in the file": func(r *rig) {
			r.file.edit(func(s *loopstate.State) { s.MaxIterations = new(2) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := start(t, nil, withTime(says("no"), time.Minute))
				time.Sleep(time.Second)
				change(r)
				r.over(loop.StopMaxIterations, 2)
				if !r.log.has("limits: 2 iterations") {
					t.Error("the change was not reported")
				}
			})
		})
	}
}

func TestALowerBudgetCountsAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, func(c *setup.Config) { c.Limits.MaxCostUSD = 10 }, withTime(costs(3, "no"), time.Hour))
		time.Sleep(time.Second)
		budget := 2.0
		r.Update(loop.Patch{Given: limits.Given{MaxCostUSD: &budget}})
		r.over(loop.StopMaxCost, 1)
	})
}

func TestTheUserIsWarnedOfTheBudgetOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, func(c *setup.Config) { c.Limits.MaxCostUSD = 10 }, costs(3, "no"))
		r.over(loop.StopMaxCost, 4)
		if n := r.log.count("$9.00 of $10.00"); n != 1 || r.log.count("warning: $") != 1 {
			t.Errorf("%d warnings\n%s", n, strings.Join(r.log.lines, "\n"))
		}
	})
}

func TestABudgetThatCannotBeKept(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, func(c *setup.Config) {
			c.Limits.MaxCostUSD = 1
			c.Backend = backends.Custom("/bin/true", nil, backends.PromptStdin, decode.FormatText)
		}, says("<promise>DONE</promise>"))
		r.over(loop.StopPromise, 1)
		if !r.log.has("cost cap can't be enforced") {
			t.Error("no warning")
		}
	})
}

func TestThePromptIsReadAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, nil, withTime(says("no"), time.Minute), says("<promise>CHANGED</promise>"))
		time.Sleep(time.Second)
		r.file.edit(func(s *loopstate.State) { s.Prompt = "Build that" })
		r.Update(loop.Patch{Given: limits.Given{Promise: new("CHANGED")}})
		r.over(loop.StopPromise, 2)
		if a, b := r.agents.specs[0].Prompt, r.agents.specs[1].Prompt; a != "Build it" || b != "Build that" {
			t.Errorf("prompts %q, %q", a, b)
		}
	})
}

func TestGuidance(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, nil, withTime(says("no"), time.Minute), says("no"), says("<promise>DONE</promise>"))
		time.Sleep(time.Second)
		id, err := r.Steer(loop.Steering{Text: "Mind the tests", Once: true})
		if id != "g1" || err != nil {
			t.Errorf("%q, %v", id, err)
		}
		r.Steer(loop.Steering{Text: "by hand", Once: true})
		r.over(loop.StopPromise, 3)
		second := strings.Join(r.agents.specs[1].Ours, " ")
		if !strings.Contains(second, "Mind the tests\nby hand") {
			t.Errorf("the second run got %q", second)
		}
		for _, i := range []int{0, 2} {
			if strings.Contains(strings.Join(r.agents.specs[i].Ours, " "), "Mind the tests") {
				t.Errorf("run %d got it too", i+1)
			}
		}
		for _, want := range []string{"guidance g1 queued", "guidance g2 queued", "guidance g1 delivered", "guidance g2 delivered"} {
			if r.log.count(want) != 1 {
				t.Errorf("%s: %d times", want, r.log.count(want))
			}
		}
	})
}

// patient is a state file whose save is over when a prompt is claimed.
type patient struct{ *memory }

func (p patient) Claim(edit func(*loopstate.State) error) (loopstate.State, error) {
	p.tell(nil)
	return p.memory.Claim(edit)
}

func TestABrokenStateFile(t *testing.T) {
	broken := &loopstate.SyntaxError{File: "f.md", Line: 3, Msg: "iteration: not a number"}
	t.Run("mended in time", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := start(t, nil, withTime(says("no"), time.Minute), says("<promise>DONE</promise>"))
			time.Sleep(time.Second)
			r.file.tell(broken)
			time.Sleep(time.Second)
			r.file.tell(nil)
			r.over(loop.StopPromise, 2)
			if !r.log.has("f.md:3") {
				t.Error("no warning")
			}
		})
	})
	t.Run("being saved slowly", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := unstarted(t, withTime(says("no"), time.Minute), says("<promise>DONE</promise>"))
			r.store = patient{r.file}
			must.OK(t, r.begin())
			time.Sleep(time.Second)
			r.file.tell(broken)
			r.over(loop.StopPromise, 2)
		})
	})
	t.Run("left broken", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := start(t, nil, withTime(says("no"), time.Minute))
			time.Sleep(time.Second)
			r.file.tell(broken)
			end := r.over(loop.StopBadStateFile, 1)
			if !strings.Contains(end.Error, "f.md:3") {
				t.Errorf("error %q", end.Error)
			}
			r.file.tell(nil)
			if _, err := r.file.Load(); err != nil {
				t.Error("the file was touched")
			}
		})
	})
}

func TestARetryingAgentIsNotStalled(t *testing.T) {
	bubble(t, func(t *testing.T) {
		patient := withTime(says("<promise>DONE</promise>"), 25*time.Minute)
		patient.events = []stream.Event{stream.Retry{Attempt: 1, Delay: stream.Duration(20 * time.Minute), Kind: stream.KindOverloaded}}
		start(t, nil, patient).over(loop.StopPromise, 1)
	})
}

func TestUnlimitedOnlyWhenAsked(t *testing.T) {
	bubble(t, func(t *testing.T) {
		runs := make([]run, 120)
		for i := range runs {
			runs[i] = says("no")
		}
		runs = append(runs, says("All is done.\nLOOP_COMPLETE"))
		r := start(t, func(c *setup.Config) { c.Limits.MaxIterations, c.Promise = 0, "" }, runs...)
		r.over(loop.StopPromise, 121)
		if !r.log.has("no promise, no iteration limit") {
			t.Error("no warning")
		}
	})
}

func TestEventsComeInPairsAndOrder(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, nil, says("no"), says("<promise>DONE</promise>"))
		r.over(loop.StopPromise, 2)
		want := `state running
begin 1/50
goal DONE
end 1 ok
begin 2/50
end 2 ok
state ended
over: promise after 2`
		if got := strings.Join(r.log.lines, "\n"); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

func TestCancelAfterTheIteration(t *testing.T) {
	for name, delay := range map[string]time.Duration{"in mid-run": time.Second, "in a wait": 90 * time.Second} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := start(t, nil, withTime(fails(stream.KindRateLimit, "429"), time.Minute))
				time.Sleep(delay)
				r.CancelAfterIteration()
				if end := r.over(loop.StopCancelled, 1); time.Duration(end.Duration) < time.Minute {
					t.Errorf("the iteration was cut after %v", end.Duration)
				}
			})
		})
	}
}
