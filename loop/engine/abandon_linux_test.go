package engine

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
)

// hanging begins a loop whose goroutine hangs as its first agent is started, until freed is closed.
func hanging(t *testing.T, configure func(*setup.Config)) (r *rig, freed chan struct{}) {
	t.Helper()
	r, freed = prepare(t, nil, configure, says("<promise>DONE</promise>")), make(chan struct{})
	started := r.start
	r.start = func(spec backends.Spec) (progress.Agent, error) {
		<-freed
		return started(spec)
	}
	must.OK(t, r.begin())
	synctest.Wait()
	return r, freed
}

// Whoever ends a loop whose goroutine hangs needn't wait for that, and nobody else has to for ever. The
// loop can be resumed, and leaves everything alone should it come back.
func TestALoopThatHangs(t *testing.T) {
	within := func(limit time.Duration) func(*setup.Config) {
		return func(c *setup.Config) { c.Limits.MaxDuration = limit }
	}
	for name, tt := range map[string]struct {
		configure func(*setup.Config)
		end       func(*rig)
		within    time.Duration
		words     string
	}{
		"is interrupted":      {nil, func(r *rig) { r.Interrupt() }, 11 * time.Second, "it hung: it didn't end within 11s of being asked to"},
		"is killed":           {nil, func(r *rig) { go r.Cancel(); synctest.Wait(); r.Kill() }, 11 * time.Second, "it didn't end within"},
		"is cancelled":        {nil, func(r *rig) { r.Cancel() }, 44 * time.Second, "it didn't end within 44s"},
		"is at its time":      {within(time.Minute), func(r *rig) { r.Wait() }, 72 * time.Second, "it didn't end within"},
		"is just begun":       {within(time.Second), func(r *rig) { r.Wait() }, 41 * time.Second, "it didn't end within"},
		"is told nothing":     {nil, func(r *rig) { r.Wait() }, 10 * time.Minute, "it hung: for 10m it did nothing"},
		"ends after this run": {nil, func(r *rig) { r.CancelAfterIteration(); r.Wait() }, 10 * time.Minute, "it did nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r, freed := hanging(t, tt.configure)
				begun := time.Now()
				tt.end(r)
				end := r.over(loop.StopInterrupted, 0)
				if took := time.Since(begun); took > tt.within || took < tt.within-2*time.Second {
					t.Errorf("it took %v, want %v", took, tt.within)
				}
				if !strings.Contains(end.Error, tt.words) || !r.log.has("over: interrupted after 1") || end.Status.State != loop.StateInterrupted {
					t.Errorf("its end is %+v\n%s", end, strings.Join(r.log.lines, "\n"))
				}
				if now := r.Status(); now.State != loop.StateInterrupted || now.Error != end.Error {
					t.Errorf("it stands at %s: %s", now.State, now.Error)
				}
				close(freed)
				time.Sleep(time.Hour)
				if s, err := r.file.Load(); err != nil || s.Iteration != 1 || !s.Begun {
					t.Errorf("what is there to go on with is %+v, %v", s, err)
				}
				if n := r.log.count("over:"); n != 1 {
					t.Errorf("it was over %d times", n)
				}
			})
		})
	}
}

// deafObserver hears nothing any more from the first iteration on, until freed is closed.
type deafObserver struct {
	*watcher
	hears, freed chan struct{}
}

func (d deafObserver) HandleLoop(e loop.Event) {
	if _, ok := e.(loop.IterationStart); ok {
		close(d.hears)
		<-d.freed
	}
	d.watcher.HandleLoop(e)
}

// The last words can't be told either then. Who looks at the loop sees how it stood last.
func TestALoopWhoseObserverHangs(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := prepare(t, nil, nil, says("<promise>DONE</promise>"))
		freed, hears := make(chan struct{}), make(chan struct{})
		r.obs = deafObserver{r.log, hears, freed}
		must.OK(t, r.begin())
		<-hears
		if now := r.Status(); now.Iteration != 1 || now.State.Over() || r.IsLive() {
			t.Errorf("it stands at %s of iteration %d", now.State, now.Iteration)
		}
		r.engine.ending.abandon("it hung")
		if end := r.Wait(); end.Reason != loop.StopInterrupted || end.Error != "it hung" || r.Status().State != loop.StateInterrupted {
			t.Errorf("it ended by %s: %s", end.Reason, end.Error)
		}
		close(freed)
		synctest.Wait()
		if !r.log.has("over: interrupted") {
			t.Error("it hasn't told its end")
		}
	})
}

// What may take for ever, or takes as long as it is allowed to, hangs for nobody.
func TestALoopThatWaitsDoesNotHang(t *testing.T) {
	const long = 9 * time.Hour
	free := func(c *setup.Config) { c.Limits.MaxDuration, c.Limits.IdleTimeout = 0, 0 }
	t.Run("for an agent", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			start(t, free, withTime(says("<promise>DONE</promise>"), long)).over(loop.StopPromise, 1)
		})
	})
	t.Run("for its user", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := start(t, free, says("no"), says("<promise>DONE</promise>"))
			must.OK(t, r.Pause())
			r.waitFor(loop.StatePaused)
			time.Sleep(long)
			must.OK(t, r.Resume(loop.Patch{}))
			r.over(loop.StopPromise, 2)
		})
	})
	t.Run("to be interrupted", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := start(t, free, withTime(says("no"), time.Minute), says("no"))
			synctest.Wait() // its first run has begun
			must.OK(t, r.Pause())
			r.waitFor(loop.StatePaused)
			time.Sleep(long)
			r.Interrupt()
			if end := r.over(loop.StopInterrupted, 1); end.Error != "" {
				t.Errorf("it hung: %s", end.Error)
			}
		})
	})
}

// A command that was carried out isn't refused as the loop has ended since: who asks may be slow.
func TestAnAnswerOfBeforeTheEndCounts(t *testing.T) {
	answers, over := make(chan int, 1), make(chan struct{})
	close(over)
	for range 100 {
		answers <- 7
		if it, ok := answered(answers, over, nil); !ok || it != 7 {
			t.Fatalf("%d, %t", it, ok)
		}
	}
	if _, ok := answered(answers, over, nil); ok {
		t.Error("nobody has answered")
	}
}
