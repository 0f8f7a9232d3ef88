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
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// killed is what a process leaves behind that is killed now: its state file as it
// is. The loop itself ends unseen.
func (r *rig) killed() loopstate.State {
	r.t.Helper()
	left, err := r.file.Load()
	must.OK(r.t, err)
	r.Kill()
	return left
}

// after continues the loop of a state file that somebody left behind.
func after(t *testing.T, left loopstate.State, runs ...run) (*rig, error) {
	t.Helper()
	return tryStart(t, &left, func(c *setup.Config) { *c = goesOn(*c) }, runs...)
}

// A loop that is killed again and again in mid-run keeps its limits.
func TestLimitsHoldAcrossCrashes(t *testing.T) {
	turn := withTime(costs(5, "no"), time.Hour)
	for name, tt := range map[string]struct {
		limits loop.Limits
		run    run
		runs   int
		why    loop.StopReason
	}{
		"all of them": {loop.Limits{MaxIterations: 3, MaxCostUSD: 12, MaxFailures: 2, IdleTimeout: 10 * time.Minute}, turn, 3, loop.StopMaxCost},
		"money":       {loop.Limits{MaxIterations: 50, MaxCostUSD: 12, MaxFailures: 2}, turn, 3, loop.StopMaxCost},
		"iterations":  {loop.Limits{MaxIterations: 2, MaxFailures: 2}, withTime(says("no"), time.Hour), 2, loop.StopMaxIterations},
		"time":        {loop.Limits{MaxIterations: 50, MaxDuration: 3 * time.Minute}, withTime(costs(0, "no"), time.Hour), 4, loop.StopMaxTime},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := start(t, func(c *setup.Config) { c.Limits = tt.limits }, tt.run)
				runs, why := 0, loop.StopReason("")
				for why == "" && runs < 7 {
					time.Sleep(55 * time.Second)
					if _, err := r.file.Load(); name == "time" && err == nil { // its turns tell how long it has worked
						hear(r.spec(0), stream.Usage{Cost: stream.USD(6)})
						synctest.Wait()
					}
					runs += r.runs()
					left, err := r.file.Load()
					if errors.Is(err, fs.ErrNotExist) { // it has ended by itself
						why = r.Wait().Reason
						break
					}
					r.Kill()
					if !left.Begun {
						t.Errorf("the file doesn't say that an iteration was begun: %+v", left)
					}
					r, err = after(t, left, tt.run)
					var capped *loop.CapError
					switch {
					case errors.As(err, &capped):
						why = capped.Reason
					case err != nil:
						t.Fatal(err)
					case r.Status().Iteration != runs+1:
						t.Errorf("after %d runs it goes on with iteration %d", runs, r.Status().Iteration)
					}
				}
				if runs != tt.runs || why != tt.why {
					t.Errorf("%d runs, then %s", runs, why)
				}
			})
		})
	}
}

// spec is what a run was started with.
func (r *rig) spec(i int) backends.Spec {
	r.agents.mu.Lock()
	defer r.agents.mu.Unlock()
	return r.agents.specs[i]
}

// runs is how many there were so far.
func (r *rig) runs() int {
	r.agents.mu.Lock()
	defer r.agents.mu.Unlock()
	return len(r.agents.specs)
}

func TestFailuresCountAcrossCrashes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		bad := fails(stream.KindServer, "500")
		r := start(t, func(c *setup.Config) { c.Limits.MaxFailures = 4 }, bad, bad, withTime(says("no"), time.Hour))
		time.Sleep(time.Minute) // the third runs
		left := r.killed()
		if left.InARow.Failures != 2 || left.Iteration != 3 {
			t.Errorf("the file says %+v", left)
		}
		r, err := after(t, left, bad)
		must.OK(t, err)
		r.over(loop.StopFailures, 2)
		if gap := r.agents.times[1].Sub(r.agents.times[0]); gap < 3*time.Second || gap > 8*time.Second { // the third pause, and a run
			t.Errorf("it tried again after %v", gap)
		}
		// Who goes on now has mended what was wrong.
		if state, err := r.file.Load(); err != nil || state.InARow != (loopstate.InARow{}) || state.Iteration != 5 || !state.Begun {
			t.Errorf("the file says %+v, %v", state, err)
		}
	})
}

func TestRefusalsCountAcrossCrashes(t *testing.T) {
	for kind, tt := range map[stream.ErrorKind]struct {
		left  loopstate.InARow
		least time.Duration // of the next wait
	}{
		stream.KindRateLimit:  {loopstate.InARow{RateLimits: 2}, 4 * time.Minute},
		stream.KindOverloaded: {loopstate.InARow{Overloads: 2}, 20 * time.Second},
	} {
		t.Run(string(kind), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				busy := fails(kind, "busy")
				r := start(t, nil, busy, busy, withTime(says("no"), time.Hour))
				time.Sleep(10 * time.Minute)
				left := r.killed()
				if left.InARow != tt.left || left.Iteration != 1 || !left.Begun {
					t.Errorf("the file says %+v", left)
				}
				r, err := after(t, left, busy, says("<promise>DONE</promise>"))
				must.OK(t, err)
				r.over(loop.StopPromise, 2)
				if gap := r.agents.times[1].Sub(r.agents.times[0]); gap < tt.least || gap > 4*tt.least {
					t.Errorf("it waited %v", gap)
				}
			})
		})
	}
}

// An interruption by the user or the editor is none of the agent's doing: the
// iteration is run again, and what it has cost counts.
func TestAnInterruptedIterationIsRunAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, nil, fails(stream.KindServer, "500"), withTime(costs(2, "no"), time.Hour))
		time.Sleep(time.Minute)
		r.Interrupt()
		state, err := r.file.Load()
		if err != nil || state.Begun || state.Iteration != 2 || state.Cost.USD != 2 || state.InARow.Failures != 1 {
			t.Errorf("the file says %+v, %v", state, err)
		}
	})
}

// counting counts what is written.
type counting struct {
	*memory
	t      *testing.T
	writes chan time.Time
}

func (c counting) Note(s loopstate.State) error {
	c.writes <- time.Now()
	return c.memory.Note(s)
}

func (c counting) Update(edit func(*loopstate.State) error) (loopstate.State, error) {
	c.t.Error("the state file is written while an agent works")
	return c.memory.Update(edit)
}

// slow has a write begin something.
type slow struct {
	*memory
	during chan func()
}

func (s slow) Note(state loopstate.State) error {
	select {
	case do := <-s.during:
		do()
	default:
	}
	return s.memory.Note(state)
}

// What is spent while a write is under way is in the next one, though nothing is spent after it.
func TestSpendingDuringAWriteIsWrittenDown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		busy := withTime(says("<promise>DONE</promise>"), time.Minute)
		during := make(chan func(), 1)
		var r *rig
		busy.during = func() {
			spends := func(usd float64) { hear(r.spec(0), stream.Usage{Cost: stream.USD(usd)}) }
			during <- func() { spends(2) }
			spends(1)
			time.Sleep(2 * bookInterval)
			if state, _ := r.file.Load(); len(during) > 0 || state.Cost.USD != 2 {
				t.Errorf("the file says $%v", state.Cost.USD)
			}
		}
		r = unstarted(t, busy)
		r.store = slow{r.file, during}
		must.OK(t, r.begin())
		r.over(loop.StopPromise, 1)
	})
}

// What a run spends is written down at once, and then once a second.
func TestSpendingIsWrittenDownWhileItIsSpent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		busy := withTime(says("<promise>DONE</promise>"), time.Minute)
		writes := make(chan time.Time, 1000)
		var began time.Time
		var r *rig
		busy.during = func() {
			began = time.Now()
			for i := range 1000 {
				hear(r.spec(0), stream.Usage{Cost: stream.USD(float64(i+1) / 1000), Tokens: stream.Tokens{Output: int64(i)}})
				if i == 0 {
					synctest.Wait()
					if state, _ := r.file.Load(); !state.Cost.Known || state.Cost.USD != 0.001 || !state.Begun || state.Iteration != 1 {
						t.Errorf("after the first turn the file says %+v", state)
					}
				}
				time.Sleep(10 * time.Millisecond)
			}
			time.Sleep(2 * bookInterval)
			state, _ := r.file.Load()
			if state.Cost.USD != 1 || state.Tokens.Output != 999 || state.Elapsed < 9*time.Second || state.Elapsed > 12*time.Second {
				t.Errorf("after the last turn the file says $%v, %+v", state.Cost.USD, state)
			}
			time.Sleep(10 * time.Second) // nothing is spent
		}
		r = unstarted(t, busy)
		r.store = counting{r.file, t, writes}
		must.OK(t, r.begin())
		r.over(loop.StopPromise, 1)
		var during []time.Time
		for len(writes) > 0 {
			if at := <-writes; !at.Before(began) {
				during = append(during, at)
			}
		}
		if len(during) != 11 || !during[0].Equal(began) {
			t.Errorf("%d writes during 10 s of turns: %v", len(during), during)
		}
		for i := range during[1:] {
			if gap := during[i+1].Sub(during[i]); gap < bookInterval {
				t.Errorf("two writes within %v", gap)
			}
		}
	})
}

// A loop that is continued after a crash tells its next iteration what the one was
// told that was cut off.
func TestGuidanceOfACrashedRunIsToldAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, nil, says("one"), withTime(says("no"), time.Hour))
		time.Sleep(time.Second / 2) // in the first run
		r.Steer(loop.Steering{Text: "Mind the tests", Once: true})
		time.Sleep(time.Minute)
		r, err := after(t, r.killed(), says("<promise>DONE</promise>"))
		must.OK(t, err)
		r.over(loop.StopPromise, 1)
		if !r.agents.isTold(0, "Mind the tests") || !slices.ContainsFunc(r.log.lines, func(l string) bool { return strings.HasPrefix(l, "begin 3/") }) {
			t.Errorf("log: %q", r.log.lines)
		}
	})
}

// Time in which this process was stopped (Ctrl-Z) isn't the loop's.
func TestElapsedLeavesOutAStop(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, nil, withTime(says("no"), time.Hour))
		time.Sleep(8 * time.Minute)
		r.engine.inbox.Do(func() { r.engine.state.Run.Stopped = 5 * time.Minute })
		if st := r.Status(); st.Elapsed.Round(time.Second) != 3*time.Minute || st.Spent != 0 {
			t.Errorf("status: %v, of which %v is over", st.Elapsed, st.Spent)
		}
		r.Kill()
	})
}
