package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// What breaks right after a sleep is tried again, and is neither an iteration nor a failure.
func TestAConnectionThatASleepBroke(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, func(c *setup.Config) { c.Limits.MaxFailures = 1 },
			withTime(fails(stream.KindOther, "connection reset"), 10*time.Minute), says("<promise>DONE</promise>"))
		time.Sleep(9 * time.Minute)
		r.engine.inbox.Do(func() { r.engine.exec.NotePause(0, 8*time.Hour) })
		end := r.over(loop.StopPromise, 2)
		if end.Iterations != 1 || !r.log.has("the machine, or this process, was asleep: connection reset") {
			t.Errorf("%+v", end)
		}
	})
	bubble(t, func(t *testing.T) { // a busy machine breaks none: what fails on it counts
		r := start(t, func(c *setup.Config) { c.Limits.MaxFailures = 1 }, withTime(fails(stream.KindOther, "connection reset"), time.Minute))
		time.Sleep(30 * time.Second)
		r.engine.inbox.Do(func() { r.engine.exec.NotePause(10*time.Second, 10*time.Second) })
		if end := r.over(loop.StopFailures, 1); end.Iterations != 1 {
			t.Errorf("%+v", end)
		}
	})
	for name, tt := range map[string]struct {
		since time.Duration
		is    judge.Report
		want  bool
	}{
		"an error soon after": {judge.WakeTime - 1, judge.Report{Outcome: loop.OutcomeError}, true},
		"an error later":      {judge.WakeTime, judge.Report{Outcome: loop.OutcomeError}, false},
		"a good run":          {0, judge.Report{Outcome: loop.OutcomeOK}, false},
		"a rate limit":        {0, judge.Report{Outcome: loop.OutcomeError, Limited: true}, false},
		"no agent":            {0, judge.Report{Outcome: loop.OutcomeError, Unstartable: true}, false},
		"nobody logged in":    {0, judge.Report{Outcome: loop.OutcomeError, Nobody: true}, false},
	} {
		if tt.is.BlameSleep(tt.since); tt.is.Woke != tt.want || strings.Contains(tt.is.Problem, "asleep") != tt.want {
			t.Errorf("%s: %+v", name, tt.is)
		}
	}
}

// By the clock of the wall an agent is silent while the machine sleeps; that isn't its silence, and
// a jump of that clock alone is no time in which the process was stopped.
func TestASleepIsNoSilence(t *testing.T) {
	for name, tt := range map[string]struct {
		wall time.Duration
		want loop.StopReason
	}{"asleep": {time.Hour, loop.StopPromise}, "awake": {time.Second, loop.StopStalled}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				silent := withTime(says("<promise>DONE</promise>"), 14*time.Minute)
				r := start(t, func(c *setup.Config) { c.Limits.IdleTimeout = 10 * time.Minute }, silent, silent)
				time.Sleep(9 * time.Minute)
				r.engine.inbox.Do(func() {
					if r.engine.exec.NotePause(0, tt.wall); r.engine.state.Run.Stopped != 0 {
						t.Errorf("stopped for %s", r.engine.state.Run.Stopped)
					}
				})
				r.Wait()
				if got := r.Status().StopReason; got != tt.want {
					t.Errorf("it ended by %s, want %s", got, tt.want)
				}
			})
		})
	}
	bubble(t, func(t *testing.T) {
		r := start(t, nil, withTime(says("<promise>DONE</promise>"), 8*time.Minute))
		time.Sleep(time.Minute)
		r.engine.inbox.Do(func() { r.engine.exec.NotePause(5*time.Minute, 5*time.Minute) })
		if end := r.over(loop.StopPromise, 1); time.Duration(end.Duration).Round(time.Second) != 3*time.Minute {
			t.Errorf("it took %s", end.Duration)
		}
	})
}
