package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// What ends or fails loses nothing that the user has said.

func TestALoopThatHasBegunOutlivesStartFailures(t *testing.T) {
	never := run{silent: true, code: 1}
	for name, broken := range map[string]run{"ends at once": never, "is gone": {gone: true}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := start(t, func(c *setup.Config) { c.Limits.MaxFailures = 5 }, says("one"), broken, broken, broken, broken, says("<promise>DONE</promise>"))
				r.over(loop.StopPromise, 6)
				if begun, ended := r.log.count("begin "), r.log.count("end "); begun != 6 || ended != 6 {
					t.Errorf("%d iterations began, %d ended", begun, ended)
				}
			})
			bubble(t, func(t *testing.T) {
				r := start(t, func(c *setup.Config) { c.Limits.MaxFailures = 4 }, says("one"), broken)
				r.over(loop.StopFailures, 5)
				if state, err := r.file.Load(); err != nil || state.Active || state.Iteration != 5 {
					t.Errorf("the state file says %+v, %v", state, err)
				}
			})
		})
	}
}

func TestAnAgentThatNeverBegins(t *testing.T) {
	tests := []struct {
		name     string
		run      run
		failures int // the limit; 0 is none
		why      loop.StopReason
		runs     int
	}{
		{"is given up", run{silent: true, code: 1}, 20, loop.StopBackendError, 3},
		{"sooner, if the user says so", run{silent: true, code: 1}, 2, loop.StopBackendError, 2},
		{"or never", run{silent: true, code: 1}, 0, loop.StopMaxIterations, 7},
		{"at once, where there is none", run{gone: true}, 0, loop.StopBackendError, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := start(t, func(c *setup.Config) { c.Limits.MaxFailures, c.Limits.MaxIterations = tt.failures, 7 }, tt.run)
				r.over(tt.why, tt.runs)
				if _, err := r.file.Load(); err == nil {
					t.Error("the state file is still there")
				}
			})
		})
	}
}

// isTold says whether a run's agent was told something besides its prompt.
func (a *agents) isTold(i int, text string) bool {
	return strings.Contains(strings.Join(a.specs[i].Ours, " "), text)
}

// goesOn is a configuration that continues the loop of another one.
func goesOn(c setup.Config) setup.Config {
	return setup.Config{Folder: c.Folder, Storage: setup.Storage{History: c.Storage.History}, Backend: c.Backend, Continue: true}
}

func TestALoopAtItsLimitIsNotContinued(t *testing.T) {
	cost, two, budget, minute := 5.5, 2, 5.0, limits.Duration(time.Minute)
	tests := []struct {
		name   string
		change loop.Patch
		why    loop.StopReason
		want   string
	}{
		{"iterations", loop.Patch{Given: limits.Given{MaxIterations: &two}}, loop.StopMaxIterations, "the limit of 2 iterations is reached, the loop has used 3 iterations: raise it to go on"},
		{"money", loop.Patch{Given: limits.Given{MaxCostUSD: &budget}}, loop.StopMaxCost, "the limit of $5.00 is reached, the loop has used $5.50: raise"},
		{"time", loop.Patch{Given: limits.Given{MaxDuration: &minute}}, loop.StopMaxTime, "the limit of 1m is reached, the loop has used 1m30s: raise"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			found := &loopstate.State{Active: true, Iteration: 4, Values: settings.Values{Given: limits.Given{MaxIterations: new(6)}}, Prompt: "Go on", LoopID: "ralph-before", AgentChoice: loopstate.AgentChoice{Backend: "pi"}, Spent: loopstate.Spent{Cost: stream.USD(cost), Elapsed: 90 * time.Second}}
			r, err := tryStart(t, found, func(c *setup.Config) { *c = goesOn(*c); c.Change = tt.change }, says("no"))
			var capped *loop.CapError
			if !errors.As(err, &capped) || capped.Reason != tt.why || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v", err)
			}
			if state, err := r.file.Load(); err != nil || *state.MaxIterations != 6 || state.MaxCostUSD != nil {
				t.Errorf("the state file says %+v, %v", state, err)
			}
		})
	}
}

func TestTokensAndTimeGoOn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		first := start(t, nil, costs(1, "no"))
		time.Sleep(2500 * time.Millisecond)
		first.Interrupt()
		state, err := first.file.Load()
		must.OK(t, err)
		r, err := tryStart(t, &state, func(c *setup.Config) { *c = goesOn(*c) }, costs(1, "<promise>DONE</promise>"))
		must.OK(t, err)
		before := r.Status()
		end := r.over(loop.StopPromise, 1)
		if want := first.engine.ending.end.Tokens; before.Tokens != want || end.Tokens != want.Plus(stream.Tokens{Input: 10, Output: 5}) {
			t.Errorf("tokens %+v and %+v, %+v were used before", before.Tokens, end.Tokens, want)
		}
		if time.Duration(end.Duration)-before.Spent != time.Second+time.Millisecond || before.Spent < time.Second {
			t.Errorf("it took %v, and %v before", end.Duration, before.Spent)
		}
	})
}

// A start that fails leaves no loop behind that nobody drives.
func TestAStartThatFailsLeavesNoFile(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	folder := t.TempDir()
	agent := backends.Custom("/bin/true", nil, backends.PromptStdin, decode.FormatText)
	cfg := setup.Config{Folder: folder, Prompt: "Do it", Backend: agent, Storage: setup.Storage{History: history.Options{Off: true}}}
	if _, err := drive(cfg, setup.Host{}, &watcher{}); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("got %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(folder, ".pi", "*")); err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}

func TestAPauseIsWrittenDown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, nil, costs(1, "no"), says("<promise>DONE</promise>"))
		r.Steer(loop.Steering{Text: "Mind the tests", Once: true})
		time.Sleep(time.Second / 2)
		r.Pause()
		time.Sleep(time.Minute)
		state, err := r.file.Load()
		if err != nil || state.Iteration != 2 || state.Elapsed < time.Second || state.Cost.USD != 1 || len(state.Guided) > 0 {
			t.Errorf("after the first iteration the file says %+v, %v", state, err)
		}
		r.Resume(loop.Patch{})
		r.over(loop.StopPromise, 2)
	})
}
