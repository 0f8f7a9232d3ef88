package engine

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/tooluse"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// A loop stays for the program that holds it behind each iteration, and has left by then what another process would need.
func TestALoopStaysForItsNextIteration(t *testing.T) {
	work := func(says string) run { return withTime(costs(1, says), 2*time.Minute) }
	stays := func(t *testing.T, runs ...run) (r *rig, left chan loop.End, next chan struct{}) {
		left, next = make(chan loop.End, 1), make(chan struct{})
		host := setup.Host{Stay: func(end loop.End) <-chan struct{} { left <- end; return next }}
		return prepare(t, nil, func(c *setup.Config) { c.Once = true }, runs...).by(t, host), left, next
	}
	t.Run("to its promise", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r, left, next := stays(t, work("no"), work("no"), work("<promise>DONE</promise>"))
			for n := 1; n < 3; n++ {
				end, s := <-left, *r.file.state
				if end.Reason != loop.StopOnce || end.Iterations != n || end.Cost.USD != float64(n) || end.Status.LoopID != r.ID() {
					t.Errorf("iteration %d was left as %+v", n, end)
				}
				if s.Iteration != n+1 || s.Begun || s.Cost.USD != float64(n) || s.Elapsed.Truncate(time.Second) != time.Duration(n)*2*time.Minute || !s.Active {
					t.Errorf("behind iteration %d the file has %+v", n, s)
				}
				time.Sleep(time.Hour) // which isn't the loop's
				if _, err := r.Steer(loop.Steering{Text: "faster"}); !errors.Is(err, loop.ErrNotRunning) {
					t.Errorf("what its next process would not know was taken: %v", err)
				}
				next <- struct{}{}
			}
			if end := r.over(loop.StopPromise, 3); time.Duration(end.Duration).Truncate(time.Second) != 6*time.Minute {
				t.Errorf("it took %v", end.Duration)
			}
		})
	})
	t.Run("until it is to end", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r, left, _ := stays(t, work("no"))
			<-left
			before := *r.file.state
			r.Interrupt()
			r.over(loop.StopOnce, 1)
			if after := *r.file.state; after.Iteration != before.Iteration || after.Begun || after.Elapsed != before.Elapsed {
				t.Errorf("left %+v, before that %+v", after, before)
			}
		})
	})
	t.Run("not to wait", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r, left, _ := stays(t, fails(stream.KindRateLimit, "x"))
			if r.over(loop.StopOnce, 1); len(left) > 0 || !r.file.state.ResumeAt.After(time.Now()) {
				t.Errorf("it stays, with %+v", r.file.state)
			}
		})
	})
	t.Run("not with what its next iteration is to be told", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			stubborn := work("no")
			for range tooluse.MaxSame + 1 {
				stubborn.events = append(stubborn.events, stream.ToolCall{ID: "1", Name: "Bash", Input: []byte(`{"command":"make"}`)}, stream.ToolResult{ID: "1", IsError: true})
			}
			r, left, _ := stays(t, stubborn)
			if r.over(loop.StopOnce, 1); len(left) > 0 || r.file.state.Stuck == "" {
				t.Errorf("it stays, with %+v", r.file.state)
			}
		})
	})
}

// handed takes a loop through processes, one for each run, to its end. It returns the last one and all that the user was told.
func handed(t *testing.T, configure func(*setup.Config), ends loop.StopReason, runs ...run) (last *rig, told *watcher) {
	t.Helper()
	var left *loopstate.State
	told = &watcher{}
	for i, one := range runs {
		r, err := tryStart(t, left, func(c *setup.Config) {
			c.Limits.MaxFailures = 9
			if configure(c); left != nil {
				c.Continue, c.Prompt, c.Promise = true, "", ""
			}
			c.Once = true
		}, one)
		if err != nil {
			t.Fatalf("process %d: %v", i, err)
		}
		want := loop.StopOnce
		if i == len(runs)-1 {
			want = ends
		}
		r.over(want, 1)
		told.lines = append(told.lines, r.log.lines...)
		last, left = r, r.file.state
	}
	return last, told
}

// What the user is told when a loop begins is told by the process that begins it.
func TestProcessesTellOnceWhatTheLoopIs(t *testing.T) {
	for name, tt := range map[string]struct {
		configure func(*setup.Config)
		once      string
	}{
		"its goal":                  {func(c *setup.Config) {}, "goal DONE"},
		"that nothing ends it":      {func(c *setup.Config) { c.Promise, c.Limits.MaxIterations = "", 0 }, "no promise, no iteration limit"},
		"what its prompt speaks of": {func(c *setup.Config) { c.Prompt = "Say <promise>READY</promise>" }, "the prompt speaks of"},
		"that money runs out":       {func(c *setup.Config) { c.Limits.MaxCostUSD = 10 }, "of $10.00 are spent"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				_, told := handed(t, tt.configure, loop.StopOnce, costs(8.5, "no"), costs(0.1, "no"), costs(0.1, "no"), costs(0.1, "no"))
				if n := told.count(tt.once); n != 1 {
					t.Errorf("told %d times: %q", n, told.lines)
				}
			})
		})
	}
	t.Run("another promise is told", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			promise := "OTHER"
			_, told := handed(t, func(c *setup.Config) { c.Change.Promise = &promise }, loop.StopOnce, costs(1, "no"), costs(1, "no"), costs(1, "no"))
			if told.count("goal DONE") != 1 || told.count("goal OTHER") != 1 {
				t.Errorf("told %q", told.lines)
			}
		})
	})
}

// What ends a loop of one process ends it over processes.
func TestProcessesCountTogether(t *testing.T) {
	neverBegins := run{code: 1, silent: true}
	noLogin := fails(stream.KindAuth, "401 no key")
	busy := func(until time.Duration) run { // since the bubble began
		return run{result: stream.Result{Failure: &stream.Error{Kind: stream.KindOverloaded, Message: "529", ResetsAt: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(until)}}}
	}
	work := withTime(costs(1, "no"), 2*time.Minute)
	for name, tt := range map[string]struct {
		configure func(*setup.Config)
		ends      loop.StopReason
		runs      []run
	}{
		"cost":                     {func(c *setup.Config) { c.Limits.MaxCostUSD = 3.5 }, loop.StopMaxCost, []run{costs(1, "no"), costs(1, "no"), costs(1, "no"), costs(1, "no")}},
		"time":                     {func(c *setup.Config) { c.Limits.MaxDuration = 7 * time.Minute }, loop.StopMaxTime, []run{work, work, work, work}},
		"time of waits, busy":      {func(c *setup.Config) { c.Limits.MaxDuration = 50 * time.Second }, loop.StopMaxTime, []run{busy(20 * time.Second), busy(20 * time.Second), busy(20 * time.Second)}},
		"an agent that can't run":  {func(*setup.Config) {}, loop.StopBackendError, []run{neverBegins, neverBegins, neverBegins}},
		"a login that has run out": {func(*setup.Config) {}, loop.StopUnauthorized, []run{costs(1, "no"), noLogin, noLogin}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) { handed(t, tt.configure, tt.ends, tt.runs...) })
		})
	}
}

// What an iteration tried in vain again and again is told to the next one, in another process.
func TestTheNextProcessIsToldWhatFailed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		stubborn := says("no")
		for range tooluse.MaxSame + 1 {
			stubborn.events = append(stubborn.events, stream.ToolCall{ID: "1", Name: "Bash", Input: []byte(`{"command":"make"}`)}, stream.ToolResult{ID: "1", IsError: true})
		}
		last, _ := handed(t, func(*setup.Config) {}, loop.StopOnce, stubborn, says("no"))
		if given := last.given(0); !strings.Contains(given, "failed 21 times in the last iteration") {
			t.Errorf("given %s", given)
		}
		if last.file.state.Stuck != "" {
			t.Errorf("it is told again: %q", last.file.state.Stuck)
		}
	})
}

// A loop is detached in the middle of its iteration, once, and says so from then on, where its process is its own.
func TestALoopIsDetached(t *testing.T) {
	for name, isOwn := range map[string]bool{"of a process of its own": true, "of a window's process": false} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				letGo := 0
				var host setup.Host
				if isOwn {
					host.LetGo = func() { letGo++ }
				}
				r := prepare(t, nil, nil, withTime(costs(1, "<promise>DONE</promise>"), time.Minute)).by(t, host)
				time.Sleep(10 * time.Second)
				for range 2 {
					if n, err := r.Detach(); n != 0 || (err == nil) != isOwn || !isOwn && err != loop.ErrNotDetachable {
						t.Errorf("Detach: %d, %v", n, err)
					}
				}
				if now := r.Status(); now.Detached != isOwn || now.Iteration != 1 || isOwn != (letGo == 1) {
					t.Errorf("let go %d times, %+v", letGo, now)
				}
				r.over(loop.StopPromise, 1)
			})
		})
	}
}
