package engine

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// ofADollar makes a loop one of three iterations and a dollar.
func ofADollar(c *setup.Config) {
	c.Limits.MaxIterations, c.Limits.MaxCostUSD, c.Promise = 3, 1, "DONE"
}

// An agent that writes more for itself into the state file gets nothing, until its user says so.
func TestWhatLoosensALoopInItsFileWaitsForTheUser(t *testing.T) {
	for name, tt := range map[string]struct {
		write func(*loopstate.State)
		asks  string // "": it counts at once
	}{
		"more iterations": {func(s *loopstate.State) { s.MaxIterations = new(500) }, "may the loop have 500 iterations instead of 3 iterations?"},
		"no limit": {func(s *loopstate.State) { s.MaxIterations, s.MaxCostUSD = new(0), nil },
			"may the loop have no limit of iterations instead of 3 iterations, no limit of cost instead of $1.00?"},
		"the default":       {func(s *loopstate.State) { s.MaxIterations = nil }, "may the loop have 50 iterations instead of 3 iterations?"},
		"another promise":   {func(s *loopstate.State) { s.Promise = new("I tried") }, "may the loop have the promise I tried instead of the promise DONE?"},
		"no promise":        {func(s *loopstate.State) { s.Promise = nil }, "may the loop have no promise instead of the promise DONE?"},
		"fewer iterations":  {func(s *loopstate.State) { s.MaxIterations = new(2) }, ""},
		"fewer, and dearer": {func(s *loopstate.State) { s.MaxIterations, s.MaxCostUSD = new(2), new(100.0) }, "may the loop have $100.00 instead of $1.00?"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, answer := range []string{"", ask.Deny, ask.Once} {
				bubble(t, func(t *testing.T) {
					r := start(t, ofADollar, withTime(says("no"), time.Minute))
					time.Sleep(time.Second)
					r.file.edit(tt.write)
					synctest.Wait()
					now, file := r.Status(), stateFileOf(r)
					if tt.asks == "" {
						if len(now.Questions) > 0 || now.Limits.MaxIterations != 2 {
							t.Errorf("it asks %+v and has %+v", now.Questions, now.Limits)
						}
						r.Kill()
						return
					}
					if len(now.Questions) != 1 || now.Questions[0].Title != tt.asks || now.Questions[0].Kind != ask.Limits {
						t.Fatalf("it asks %+v", now.Questions)
					}
					if now.State != loop.StateRunning || now.Limits.MaxCostUSD != 1 || now.Limits.MaxIterations > 3 || now.Promise != "DONE" || progress.TermsOf(file) != (progress.Terms{Limits: now.Limits, Promise: now.Promise}) {
						t.Errorf("meanwhile it is %s and has %+v, its file %+v", now.State, now.Limits, file)
					}
					before := progress.Terms{Limits: now.Limits, Promise: now.Promise}
					if answer == "" {
						r.file.edit(tt.write) // once more
						synctest.Wait()
						if n := r.log.count("asked"); n != 1 {
							t.Errorf("asked %d times", n)
						}
						r.over(loop.StopMaxIterations, before.Limits.MaxIterations)
						if r.log.count("answered moot") != 1 {
							t.Errorf("at its end: %q", r.log.lines)
						}
						return
					}
					must.OK(t, r.Answer(now.Questions[0].ID, ask.Answer{Kind: answer}))
					synctest.Wait()
					after := progress.Terms{Limits: r.Status().Limits, Promise: r.Status().Promise}
					if _, _, words := before.Loosening(after); (len(words) > 0) != (answer == ask.Once) || progress.TermsOf(stateFileOf(r)) != after {
						t.Errorf("behind %s it has %+v", answer, after)
					}
					r.Kill()
				})
			}
		})
	}
}

func stateFileOf(r *rig) loopstate.State {
	s, err := r.file.Load()
	must.OK(r.t, err)
	return s
}

// Time that nobody answers in is the agent's: it works meanwhile.
func TestAQuestionAboutTermsStopsNoClock(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, func(c *setup.Config) { ofADollar(c); c.Limits.MaxDuration = 10 * time.Minute }, withTime(says("no"), time.Hour))
		time.Sleep(time.Second)
		r.file.edit(func(s *loopstate.State) { s.MaxIterations = new(500) })
		r.over(loop.StopMaxTime, 1)
	})
}

func TestTermsCountAtOnceWhereNoRunIsAtWork(t *testing.T) {
	more := func(s *loopstate.State) { s.MaxIterations, s.Promise = new(500), new("I tried") }
	check := func(t *testing.T, r *rig) {
		synctest.Wait()
		if now := r.Status(); now.Limits.MaxIterations != 500 || now.Promise != "I tried" || len(now.Questions) > 0 {
			t.Errorf("it has %+v, %q, and asks %q", now.Limits, now.Promise, now.Questions)
		}
		r.Kill()
	}
	t.Run("in a pause", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := start(t, ofADollar, says("no"))
			r.Pause()
			time.Sleep(time.Minute)
			r.file.edit(more)
			check(t, r)
		})
	})
	t.Run("in a wait", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := start(t, ofADollar, fails("", "500"))
			time.Sleep(1100 * time.Millisecond)
			r.file.edit(more)
			check(t, r)
		})
	})
	t.Run("but not what a run left behind", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			last := says("no")
			var r *rig
			last.during = func() { r.Pause() }
			last.lasts = time.Minute
			r = unstarted(t, last)
			ofADollar(&r.cfg)
			must.OK(t, r.begin())
			time.Sleep(time.Minute) // to the very end of the run
			r.file.quietly(more)
			time.Sleep(time.Minute)
			if now := r.Status(); now.State != loop.StatePaused || now.Limits.MaxIterations == 500 || len(now.Questions) != 1 {
				t.Errorf("it is %s, has %+v, and asks %+v", now.State, now.Limits, now.Questions)
			}
			r.Kill()
		})
	})
}

// The user's own way makes the question superfluous.
func TestAnUpdateAnswersTheQuestion(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, ofADollar, withTime(says("no"), time.Minute))
		time.Sleep(time.Second)
		r.file.edit(func(s *loopstate.State) { s.MaxIterations = new(10) })
		synctest.Wait()
		must.OK(t, r.Update(loop.Patch{Given: limits.Given{MaxIterations: new(20)}}))
		synctest.Wait()
		if now := r.Status(); len(now.Questions) > 0 || now.Limits.MaxIterations != 20 || !r.log.has("answered moot") {
			t.Errorf("it asks %+v, and has %+v", now.Questions, now.Limits)
		}
		r.Kill()
	})
}

// What an update changes doesn't carry along what an agent wrote a moment before.
func TestAnUpdateGrantsNothingBesides(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, ofADollar, withTime(says("no"), time.Minute))
		time.Sleep(time.Second)
		r.file.quietly(func(s *loopstate.State) { s.MaxIterations = new(500) })
		must.OK(t, r.Update(loop.Patch{Given: limits.Given{MaxCostUSD: new(2.0)}}))
		if now := r.Status(); now.Limits.MaxIterations != 3 || now.Limits.MaxCostUSD != 2 || len(now.Questions) != 1 {
			t.Errorf("it has %+v and asks %+v", now.Limits, now.Questions)
		}
		r.Kill()
	})
}

func TestAnAgentThatWritesForEverAsksSomeTimes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, ofADollar, withTime(says("no"), time.Minute))
		time.Sleep(time.Second)
		for i := range 100 {
			r.file.edit(func(s *loopstate.State) { s.MaxIterations = new(500 + i) })
			synctest.Wait()
		}
		if n, warned := r.log.count("asked"), r.log.count("changed again and again"); n != maxLoosened || warned != 1 {
			t.Errorf("asked %d times, warned %d times", n, warned)
		}
		if now := r.Status(); now.Limits.MaxIterations != 3 || len(now.Questions) != 1 {
			t.Errorf("it has %+v and asks %d questions", now.Limits, len(now.Questions))
		}
		if err := r.Answer("q99", ask.Answer{Kind: ask.ForLoop}); !errors.Is(err, ask.ErrNoQuestion) {
			t.Error(err)
		}
		if err := r.Answer(r.Status().Questions[0].ID, ask.Answer{Kind: ask.ForLoop}); err == nil || !strings.Contains(err.Error(), "say deny, once") {
			t.Error(err)
		}
		r.Kill()
	})
}

// The notes that are shown are those that runs are told, whatever an agent writes into the file.
func TestNotesInTheFileArentTheLoops(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, func(c *setup.Config) { c.Values.Notes, c.Limits.MaxIterations = "notes.md", 1 }, withTime(says("no"), time.Minute))
		r.file.edit(func(s *loopstate.State) { s.Notes = "planted.md" })
		synctest.Wait()
		if got := r.Status().Notes; got != "notes.md" {
			t.Errorf("it shows %q", got)
		}
		r.over(loop.StopMaxIterations, 1)
	})
}
