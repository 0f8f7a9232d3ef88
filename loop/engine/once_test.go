package engine

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/deeds"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// TestOneIterationAtATime hands a loop from process to process: each takes the state
// that the one before has left.
func TestOneIterationAtATime(t *testing.T) {
	tests := []struct {
		name  string
		limit int
		runs  []run
		ends  []loop.StopReason
		waits []bool // what is left says until when to wait
	}{
		{"to its promise", 9, []run{costs(1, "no"), costs(1, "no"), costs(1, "<promise>DONE</promise>")},
			[]loop.StopReason{loop.StopOnce, loop.StopOnce, loop.StopPromise}, []bool{false, true, false}}, // the second run was as short as the first
		{"to its limit, without a run more", 2, []run{costs(1, "no"), costs(1, "no")}, []loop.StopReason{loop.StopOnce, loop.StopMaxIterations}, []bool{false, false}},
		{"failures in a row", 9, []run{fails(stream.KindOther, "x"), fails(stream.KindOther, "x"), fails(stream.KindOther, "x")},
			[]loop.StopReason{loop.StopOnce, loop.StopOnce, loop.StopFailures}, []bool{true, true, false}},
		{"a rate limit", 9, []run{fails(stream.KindRateLimit, "x"), says("<promise>DONE</promise>")}, []loop.StopReason{loop.StopOnce, loop.StopPromise}, []bool{true, false}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var left *loopstate.State
				for i, want := range tt.ends {
					r, err := tryStart(t, left, func(c *setup.Config) {
						c.Once, c.Continue = true, left != nil
						c.Limits.MaxIterations, c.Limits.MaxFailures = tt.limit, 3
						if c.Continue {
							c.Prompt, c.Promise = "", ""
						}
					}, tt.runs[i])
					if err != nil {
						t.Fatal(err)
					}
					begun := time.Now()
					end := r.over(want, 1)
					if took := time.Since(begun); took > 2*time.Second {
						t.Errorf("process %d waited for %v", i, took)
					}
					if left = r.file.state; left == nil {
						continue
					}
					if waits := left.ResumeAt.After(time.Now()); waits != tt.waits[i] {
						t.Errorf("process %d left a loop that waits: %v (until %v), want %v", i, waits, left.ResumeAt, tt.waits[i])
					}
					if want == loop.StopOnce && left.Begun {
						t.Errorf("process %d left an iteration that has begun: %+v", i, end)
					}
				}
			})
		})
	}
}

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
			if end := r.over(loop.StopPromise, 3); end.Duration.Truncate(time.Second) != 6*time.Minute {
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
			for range deeds.MaxSame + 1 {
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
		for range deeds.MaxSame + 1 {
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

// TestALoopIsDetached lets loops go on in another process, as they were left.
func TestALoopIsDetached(t *testing.T) {
	tests := []struct {
		name   string
		detach func(*rig)
		runs   []run // of the first process
		left   func(loopstate.State) bool
	}{
		{"before its first run", nil, nil, func(s loopstate.State) bool { return s.Iteration == 1 && !s.Begun && s.Active }},
		{"behind the iteration under way", func(r *rig) {
			time.Sleep(10 * time.Second)
			if n, err := r.Detach(); n != 1 || err != nil {
				r.t.Errorf("Detach: %d, %v", n, err)
			}
		}, []run{withTime(costs(1, "no"), time.Minute)}, func(s loopstate.State) bool { return s.Iteration == 2 && s.Cost.USD == 1 }},
		{"while it is paused", func(r *rig) {
			time.Sleep(10 * time.Second)
			r.Pause()
			r.waitFor(loop.StatePaused)
			if n, err := r.Detach(); n != 0 || err != nil {
				r.t.Errorf("Detach: %d, %v", n, err)
			}
		}, []run{withTime(costs(1, "no"), time.Minute)}, func(s loopstate.State) bool { return !s.Active }},
		{"while it waits", func(r *rig) {
			r.waitFor(loop.StateWaiting)
			r.Detach()
		}, []run{fails(stream.KindRateLimit, "x")}, func(s loopstate.State) bool { return s.ResumeAt.After(time.Now()) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				kept := 0
				host := setup.Host{Keep: func(folder, loopID string) error { kept++; return nil }}
				r := prepare(t, nil, func(c *setup.Config) { c.Detached = tt.detach == nil }, tt.runs...).by(t, host)
				if tt.detach != nil {
					tt.detach(r)
				}
				r.over(loop.StopDetached, len(tt.runs))
				if kept != 1 {
					t.Errorf("%d processes were started", kept)
				}
				left := *r.file.state
				if !tt.left(left) {
					t.Fatalf("left %+v", left)
				}
				begun := time.Now()
				r, err := tryStart(t, &left, func(c *setup.Config) {
					c.Continue, c.Alone, c.Prompt, c.Promise = true, true, "", ""
				}, says("<promise>DONE</promise>"))
				if err != nil {
					t.Fatal(err)
				}
				if !r.Status().Detached {
					t.Error("it doesn't say that it runs alone")
				}
				if !left.Active {
					r.waitFor(loop.StatePaused)
					r.Resume(loop.Patch{})
				}
				r.over(loop.StopPromise, 1)
				if waited := time.Since(begun); left.ResumeAt.After(begun) && waited < left.ResumeAt.Sub(begun) {
					t.Errorf("it waited for %v of %v", waited, left.ResumeAt.Sub(begun))
				}
			})
		})
	}
}

// TestAClosedWindowLeavesWhatIsWanted is what becomes of a loop whose window goes away.
func TestAClosedWindowLeavesWhatIsWanted(t *testing.T) {
	tests := []struct {
		name   string
		close  string
		detach bool
		keep   error
		want   loop.StopReason
	}{
		{"as ever", "", false, nil, loop.StopInterrupted},
		{"it is to end", settings.OnCloseEnd, false, nil, loop.StopInterrupted},
		{"it is kept", settings.OnCloseKeep, false, nil, loop.StopDetached},
		{"it is about to leave", settings.OnCloseEnd, true, nil, loop.StopDetached},
		{"nobody could go on", settings.OnCloseKeep, false, errors.New("no process"), loop.StopInterrupted},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var r *rig
				host := setup.Host{Keep: func(string, string) error {
					if r.Status().State.Over() {
						t.Error("it was over before somebody could go on")
					}
					return tt.keep
				}}
				r = prepare(t, nil, func(c *setup.Config) { c.Said.OnClose = tt.close }, withTime(costs(1, "no"), time.Minute)).by(t, host)
				time.Sleep(10 * time.Second)
				if tt.detach {
					r.Detach()
				}
				r.Close()
				end := r.over(tt.want, 1)
				if isSaid := strings.Contains(end.Error, "but no process"); isSaid != (tt.keep != nil) {
					t.Errorf("its end says %q", end.Error)
				}
				if s, err := r.file.Load(); err != nil || s.Closing != tt.close {
					t.Errorf("who resumes it knows %q, want %q (%v)", s.Closing, tt.close, err)
				}
			})
		})
	}
}
