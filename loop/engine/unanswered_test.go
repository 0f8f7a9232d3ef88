package engine

import (
	"strings"
	"sync/atomic"
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

// A loop that nobody looks at doesn't wait all night for a word about its promise. It can go
// on with that word later.
func TestAnUncheckedPromiseThatNobodyLooksAtEndsTheLoop(t *testing.T) {
	bubble(t, func(t *testing.T) {
		began := time.Now()
		r := verified(t, []checked{missing}, func(c *setup.Config) { c.Asking.Unanswered = 30 * time.Minute }, promise)
		time.Sleep(time.Minute)
		synctest.Wait()
		deadline := r.Status().Deadline
		if left := time.Until(deadline); left < 28*time.Minute || left > 29*time.Minute+2*time.Second {
			t.Errorf("it waits until %v", deadline)
		}
		end := r.over(loop.StopUnanswered, 1)
		if late := time.Since(deadline); late < 0 || late > time.Second || !end.Status.Deadline.IsZero() {
			t.Errorf("it ended %v late, and has the deadline %v", late, end.Status.Deadline)
		}
		if waited := time.Since(began); waited < 30*time.Minute || waited > 31*time.Minute {
			t.Errorf("it ended after %v", waited)
		}
		const why = "what the agent promised (DONE) could not be verified: go test ./... could not be run: no program check"
		if end.Problem() != why || end.Status.Unchecked != "go test ./... could not be run: no program check" || end.Status.State != loop.StateFailed {
			t.Errorf("got %q, %+v", end.Problem(), end)
		}
		if !r.log.has("warning: nobody looks at this loop: if nobody answers within 30m (--ask-timeout) it ends") {
			t.Errorf("nobody was told:\n%s", strings.Join(r.log.lines, "\n"))
		}
		left, err := r.file.Load()
		if err != nil || !left.Checking || left.Promised != "DONE" || left.Unchecked == "" || left.StopReason != string(loop.StopUnanswered) || left.StopError != why {
			t.Fatalf("it left %+v, %v", left, err)
		}
		again := prepareVerified(t, &left, []checked{passes},
			func(c *setup.Config) { c.Continue, c.Asking.Unanswered = true, 30*time.Minute })
		must.OK(t, again.begin())
		if end := again.over(loop.StopPromise, 0); end.Iterations != 1 {
			t.Errorf("got %+v", end)
		}
	})
}

// Who sits before the loop may take all night, and somebody who sat there may have left.
func TestWhetherSomebodyLooksIsAskedWhenTheTimeIsUp(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var isThere atomic.Bool
		isThere.Store(true)
		began := time.Now()
		r := prepareVerified(t, nil, []checked{missing}, func(c *setup.Config) { c.Asking.Unanswered = 30 * time.Minute },
			promise).by(t, setup.Host{Attended: isThere.Load})
		time.Sleep(10 * time.Hour)
		synctest.Wait()
		if st := r.Status(); st.State != loop.StatePaused || r.log.has("warning: nobody looks") {
			t.Errorf("the loop is %s\n%s", st.State, strings.Join(r.log.lines, "\n"))
		}
		isThere.Store(false)
		r.over(loop.StopUnanswered, 1)
		if waited := time.Since(began); waited > 11*time.Hour {
			t.Errorf("it ended after %v", waited)
		}
	})
}

func TestAWordInTimeKeepsALoopThatNobodyLooksAt(t *testing.T) {
	for name, tt := range map[string]struct {
		limit, wait time.Duration
	}{"in time": {30 * time.Minute, 29 * time.Minute}, "without a limit": {0, 24 * time.Hour}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := verified(t, []checked{missing, passes}, func(c *setup.Config) { c.Asking.Unanswered = tt.limit }, promise)
				time.Sleep(tt.wait)
				synctest.Wait()
				if st := r.Status(); st.Deadline.IsZero() != (tt.limit == 0) {
					t.Errorf("with a limit of %v it waits until %v", tt.limit, st.Deadline)
				}
				r.Resume(loop.Patch{})
				r.over(loop.StopPromise, 1)
				if st := r.Status(); !st.Deadline.IsZero() {
					t.Errorf("it still waits until %v", st.Deadline)
				}
			})
		})
	}
}

// A question that nobody answers ends the loop too; its iteration is run again later.
func TestAQuestionOfALoopThatNobodyLooksAtEndsIt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := asking(t, func(c *setup.Config) { c.Asking.Unanswered = 30 * time.Minute },
			func(r *rig, asks func(stream.Question) chan backends.Answer) {
				asks(wants("1", "Bash", `{"command":"rm -r build"}`))
				asks(wants("2", "Bash", `{"command":"ls"}`))
				if st := r.Status(); !st.Deadline.Equal(time.Now().Add(30 * time.Minute)) {
					t.Errorf("it is %v, and waits until %v", time.Now(), st.Deadline)
				}
				time.Sleep(30*time.Minute + time.Second)
			})
		end := r.over(loop.StopUnanswered, 1)
		if len(end.Unanswered) != 2 || !strings.HasPrefix(end.Problem(), "the agent asked 2 questions, the first one: ") || !strings.Contains(end.Problem(), "rm -r build") {
			t.Errorf("got %q, %+v", end.Problem(), end.Unanswered)
		}
		left, err := r.file.Load()
		if err != nil || left.Iteration != 1 || left.Begun || left.StopReason != string(loop.StopUnanswered) {
			t.Errorf("it left %+v, %v", left, err)
		}
		again := prepare(t, &left, func(c *setup.Config) { c.Continue = true }, promise)
		must.OK(t, again.begin())
		if end := again.over(loop.StopPromise, 1); end.Iterations != 1 {
			t.Errorf("it went on with iteration %d", end.Iterations)
		}
	})
}

// An answer in the last moment is none that the end overtakes, nor the other way round.
func TestAnAnswerAsTheTimeIsUp(t *testing.T) {
	for range 20 {
		bubble(t, func(t *testing.T) {
			r := verified(t, []checked{missing, passes}, func(c *setup.Config) { c.Asking.Unanswered = 30 * time.Minute }, promise)
			time.Sleep(30 * time.Minute)
			r.file.edit(func(s *loopstate.State) { s.Active = true })
			if end := r.Wait(); end.Reason != loop.StopPromise && end.Reason != loop.StopUnanswered {
				t.Errorf("over: %s", end.Reason)
			}
		})
	}
}
