package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// gaps are the pauses between runs.
func (r *rig) gaps(lasts time.Duration) []time.Duration {
	var gaps []time.Duration
	for i := range r.agents.times[1:] {
		gaps = append(gaps, r.agents.times[i+1].Sub(r.agents.times[i])-lasts)
	}
	return gaps
}

// idles is a run that ends well after a while and has done nothing.
func idles(lasts time.Duration) run { return withTime(says("Nothing to do."), lasts) }

func TestShortRunsArePaced(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, func(c *setup.Config) { c.Limits.MaxIterations = 10 }, idles(time.Millisecond))
		r.over(loop.StopMaxIterations, 10)
		want := []time.Duration{0, 1, 2, 4, 8, 16, 32, 60, 60}
		for i, gap := range r.gaps(2 * time.Millisecond) {
			if seconds := gap.Round(100 * time.Millisecond); seconds != want[i]*time.Second {
				t.Errorf("pause %d is %v, want %v s", i, gap, want[i])
			}
		}
		if n := r.log.count("state waiting pacing"); n != 8 {
			t.Errorf("%d pauses are told", n)
		}
		if n := r.log.count("two runs in a row ended within 2s and used no tool"); n != 1 {
			t.Errorf("the user was warned %d times", n)
		}
	})
}

// The pace is kept by who goes on, and the user may hasten it.
func TestThePaceIsInTheStateFile(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, nil, idles(time.Millisecond))
		time.Sleep(10 * time.Second) // the fourth pause
		state, _ := r.file.Load()
		if state.InARow.ShortRuns != 5 || state.Begun || state.Iteration != 6 || state.ResumeAt.IsZero() {
			t.Errorf("the file says %+v", state)
		}
		if st := r.Status(); st.State != loop.StateWaiting || st.Retry.Reason != loop.WaitPacing || st.Retry.Attempt != 4 {
			t.Errorf("status %+v, %+v", st, st.Retry)
		}
		r.Kill()
		r, err := after(t, state, idles(time.Millisecond))
		must.OK(t, err)
		time.Sleep(time.Second)
		if resume := r.Status().Retry.ResumeAt; time.Until(resume) < 14*time.Second {
			t.Errorf("it goes on in %v", time.Until(resume))
		}
		r.Resume(loop.Patch{})
		synctest.Wait()
		time.Sleep(100 * time.Millisecond)
		if n := r.runs(); n != 2 { // it doesn't wait for this one
			t.Errorf("%d runs", n)
		}
		r.Kill()
	})
}

func TestAnOverloadedProviderIsWaitedFor(t *testing.T) {
	busy := fails(stream.KindOverloaded, "529 Overloaded")
	bubble(t, func(t *testing.T) {
		r := start(t, func(c *setup.Config) { c.Limits.MaxIterations, c.Limits.MaxFailures = 1, 1 },
			busy, busy, busy, busy, busy, busy, busy, busy, says("<promise>DONE</promise>"))
		r.over(loop.StopPromise, 9) // neither an iteration nor a failure
		for i, middle := range []time.Duration{10, 20, 40, 80, 160, 300, 300, 300} {
			gap := r.gaps(time.Second)[i]
			if gap < middle*time.Second/2 || gap > middle*time.Second*3/2+time.Second {
				t.Errorf("wait %d took %v, want about %v s", i, gap, middle)
			}
		}
		if r.log.count("state waiting overloaded") != 8 || r.log.has("state waiting backoff") {
			t.Errorf("log: %q", r.log.lines)
		}
	})
	t.Run("until the time that it says", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			told := fails(stream.KindOverloaded, "529 Overloaded")
			told.result.Failure.ResetsAt = time.Now().Add(time.Hour)
			r := start(t, nil, told, says("<promise>DONE</promise>"))
			r.over(loop.StopPromise, 2)
			if gap := r.gaps(0)[0]; gap < time.Hour || gap > time.Hour+time.Second {
				t.Errorf("it waited %v", gap)
			}
		})
	})
	t.Run("within the time limit", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			begin := time.Now()
			r := start(t, func(c *setup.Config) { c.Limits.MaxDuration = time.Hour }, busy)
			end := r.Wait()
			if took := time.Since(begin); end.Reason != loop.StopMaxTime || took < time.Hour || took > time.Hour+2*time.Second || time.Duration(end.Duration) < time.Hour {
				t.Errorf("over: %+v after %v", end, took)
			}
		})
	})
	t.Run("for ever where there is none", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := start(t, func(c *setup.Config) { c.Limits.MaxDuration = 0 }, busy)
			time.Sleep(10 * time.Hour)
			if st := r.Status(); st.State != loop.StateWaiting || st.Iteration != 1 {
				t.Errorf("status %+v", st)
			}
			r.Kill()
		})
	})
	t.Run("a rate limit doesn't use up the time", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			limited := fails(stream.KindRateLimit, "429")
			limited.result.Failure.ResetsAt = time.Now().Add(3 * time.Hour)
			r := start(t, func(c *setup.Config) { c.Limits.MaxDuration = time.Hour }, limited, says("<promise>DONE</promise>"))
			r.over(loop.StopPromise, 2)
		})
	})
	t.Run("another answer ends the row", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := start(t, func(c *setup.Config) { c.Limits.MaxIterations = 1 }, busy, busy, busy, fails(stream.KindRateLimit, "429"), busy, says("<promise>DONE</promise>"))
			r.over(loop.StopPromise, 6)
			if gap := r.gaps(time.Second)[4]; gap > 16*time.Second {
				t.Errorf("the first wait of another row took %v", gap)
			}
		})
	})
}

func TestEveryReasonToWaitHasWords(t *testing.T) {
	seen := map[string]bool{}
	for _, reason := range loop.WaitReasons() {
		text := loop.WaitText(reason)
		if text == "" || seen[text] {
			t.Errorf("%s is called %q", reason, text)
		}
		seen[text] = true
	}
	if got := loop.WaitText("server_error"); got != "server error" {
		t.Errorf("an agent's own reason is called %q", got)
	}
}
