package engine

import (
	"errors"
	"sync/atomic"
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

// failedAfter runs a loop to its failure in iteration 3, and returns what is in the file.
func failedAfter(t *testing.T, runs ...run) (*rig, loopstate.State) {
	t.Helper()
	r := start(t, func(c *setup.Config) { c.Limits.MaxFailures = 2 }, runs...)
	r.Wait()
	state, err := r.file.Load()
	must.OK(t, err)
	return r, state
}

func goOn(c *setup.Config) {
	*c = setup.Config{Folder: c.Folder, Storage: setup.Storage{History: c.Storage.History}, Backend: c.Backend, Continue: true}
}

func TestAFailedLoopSaysSo(t *testing.T) {
	denied := run{result: stream.Result{Denials: []stream.Denial{{Tool: "Bash", Detail: "rm x"}, {Tool: "Write"}}}}
	silent, quiet := withTime(says("no"), time.Hour), withTime(says("no"), time.Hour)
	quiet.result.AtWork = "bash make"
	for name, tt := range map[string]struct {
		run     run
		why     loop.StopReason
		problem string
	}{
		"failures": {fails(stream.KindServer, "500"), loop.StopFailures, "500"},
		"denied":   {denied, loop.StopPermissionDenied, "refused: Bash rm x, Write"},
		"silent":   {silent, loop.StopStalled, "no output for longer than the idle timeout"},
		"quiet":    {quiet, loop.StopStalled, `no output for longer than the tool timeout, of "bash make"`},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r, state := failedAfter(t, says("no"), tt.run)
				now := time.Now()
				for from, st := range map[string]loop.Status{"the loop": r.Status(), "the file": loop.StatusOf(state, "f", "/w", false)} {
					if st.State != loop.StateFailed || st.StopReason != tt.why || st.Iteration != 3 || st.Error != tt.problem || now.Sub(st.EndedAt) > time.Second {
						t.Errorf("%s says %s %s at %d, %q, %v", from, st.State, st.StopReason, st.Iteration, st.Error, st.EndedAt)
					}
				}
				if !r.log.has("state failed") || r.log.has("state ended") {
					t.Errorf("the log says %q", r.log.lines)
				}
				if state.Active {
					t.Error("the file says that the loop is active")
				}
			})
		})
	}
}

func TestAFailedLoopGoesOnBehindItsFailure(t *testing.T) {
	bubble(t, func(t *testing.T) {
		_, state := failedAfter(t, says("no"), fails(stream.KindServer, "500"))
		r, err := tryStart(t, &state, goOn, withTime(says("no"), time.Minute), says("<promise>DONE</promise>"))
		must.OK(t, err)
		time.Sleep(30 * time.Second)
		if now, err := r.file.Load(); err != nil || now.StopReason != "" || now.StopError != "" || !now.StoppedAt.IsZero() || !now.Active || now.Iteration != 4 {
			t.Errorf("while it runs the file says %+v, %v", now, err)
		}
		r.over(loop.StopPromise, 2)
		if !r.log.has("begin 4/50") || !r.log.has("begin 5/50") {
			t.Errorf("it began with another iteration: %q", r.log.lines)
		}
	})
}

func TestWithoutTheReasonTheLoopIsInterrupted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		_, state := failedAfter(t, says("no"), fails(stream.KindServer, "500"))
		state.StopReason = "" // as its user deleted it
		if st := loop.StatusOf(state, "f", "/w", false); st.State != loop.StateInterrupted || st.Error != "" || st.StopReason != loop.StopInterrupted || !st.EndedAt.IsZero() {
			t.Errorf("got %+v", st)
		}
		r, err := tryStart(t, &state, goOn, says("<promise>DONE</promise>"))
		must.OK(t, err)
		r.over(loop.StopPromise, 1)
		if !r.log.has("begin 4/50") {
			t.Errorf("got %q", r.log.lines)
		}
	})
}

func TestALoopWhoseFileIsGoneIsNotFailed(t *testing.T) {
	for _, why := range []loop.StopReason{loop.StopFailures, loop.StopInterrupted} {
		l := bare(func(l *Loop) { l.engine.store, l.engine.obs = &memory{}, &watcher{} })
		if got := l.engine.leaveFile(loop.End{Reason: why}, time.Now()); got != loop.StateEnded {
			t.Errorf("after %s it is %s", why, got)
		}
	}
}

func TestAnEndThatCanNotBeWrittenIsWarnedOf(t *testing.T) {
	log := &watcher{}
	l := bare(func(l *Loop) { l.engine.store, l.engine.obs = &memory{broken: errors.New("no space")}, log })
	if got := l.engine.leaveFile(loop.End{Reason: loop.StopFailures}, time.Now()); got != loop.StateFailed || !log.has("the state file doesn't tell how the loop ended: no space") {
		t.Errorf("it is %s: %q", got, log.lines)
	}
}

func TestALoopLeftBehindTellsHow(t *testing.T) {
	for reason, want := range map[loop.StopReason]string{
		"":                "f holds a loop that stopped at iteration 3/9: continue it or cancel it first",
		loop.StopPromise:  "f holds a loop that stopped at iteration 3/9: continue it or cancel it first",
		loop.StopFailures: "f holds a loop that failed at iteration 3/9: continue it or cancel it first",
	} {
		e := &loop.InterruptedError{Path: "f", State: loopstate.State{Iteration: 3, Values: settings.Values{Given: limits.Given{MaxIterations: new(9)}}, Failed: loopstate.Failed{StopReason: string(reason)}}}
		if e.Error() != want || e.Reason() != reason && e.Reason() != loop.StopInterrupted {
			t.Errorf("%s: %q, %s", reason, e, e.Reason())
		}
	}
}

// lastWrite calls a function behind the write with which a loop leaves its file.
type lastWrite struct {
	*memory
	then func()
}

func (w lastWrite) Leave(edit func(*loopstate.State) error) (loopstate.State, error) {
	s, err := w.memory.Leave(edit)
	if s.StopReason != "" {
		w.then()
	}
	return s, err
}

func (w lastWrite) Remove() error {
	w.then()
	return w.memory.Remove()
}

// once calls a function the first time, also when it is called by what it calls.
func once(call func()) func() {
	var called atomic.Bool
	return func() {
		if called.CompareAndSwap(false, true) {
			call()
		}
	}
}

// What a user wants of a loop whose end is decided is refused, when it is over: who
// resumes it continues it then.
func TestALoopThatIsAboutToEndTakesNoWord(t *testing.T) {
	raised := 9
	for reason, given := range map[loop.StopReason]loop.Limits{
		loop.StopFailures:      {MaxIterations: 5, MaxFailures: 1},
		loop.StopMaxIterations: {MaxIterations: 1, MaxFailures: 5},
	} {
		for name, say := range map[string]func(*rig) error{
			"resume": func(r *rig) error { return r.Resume(loop.Patch{}) },
			"pause":  func(r *rig) error { return r.Pause() },
			"update": func(r *rig) error { return r.Update(loop.Patch{Given: limits.Given{MaxIterations: &raised}}) },
			"steer":  func(r *rig) error { _, err := r.Steer(loop.Steering{Text: "Mind the tests", Once: true}); return err },
		} {
			t.Run(string(reason)+", "+name, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					r := prepare(t, nil, func(c *setup.Config) { c.Limits = given }, fails(stream.KindServer, "500"))
					answers := make(chan error, 1)
					r.store = lastWrite{r.file, once(func() {
						go func() {
							err := say(r)
							if !r.Status().State.Over() {
								t.Error("answered before it is over")
							}
							answers <- err
						}()
						synctest.Wait()
					})}
					must.OK(t, r.begin())
					r.over(reason, 1)
					if err := <-answers; !errors.Is(err, loop.ErrNotRunning) {
						t.Errorf("the answer is %v", err)
					}
					if s, err := r.file.Load(); err == nil && (s.Active || len(s.Queued) > 0 || s.Limits().MaxIterations == raised) {
						t.Errorf("it was written: %+v", s)
					}
				})
			})
		}
	}
}

// A limit that is raised in the moment in which it is reached counts.
func TestALimitThatIsRaisedAsItIsReached(t *testing.T) {
	for limit, want := range map[int]loop.StopReason{1: loop.StopMaxIterations, 2: ""} {
		l := bare(func(*Loop) {})
		l.engine.state.SpentBefore.Iterations, l.engine.state.Status.Limits.MaxIterations = 1, limit
		if why := l.engine.still(loop.StopMaxIterations); why != want {
			t.Errorf("with a limit of %d: %q, want %q", limit, why, want)
		}
		if why := l.engine.still(loop.StopBadStateFile); why != loop.StopBadStateFile {
			t.Errorf("another reason: %q", why)
		}
	}
}
