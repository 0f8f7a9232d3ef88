package loop

import (
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// While a long tool runs, the state file says nothing new; other processes count all the same. A question stands still,
// and has a deadline.
func TestOtherProcessesCountWhatALoopWorks(t *testing.T) {
	began, deadline := time.Now().Add(-time.Minute), time.Now().Add(time.Hour)
	now := Status{Usage: Usage{Elapsed: 10 * time.Minute}, Condition: Condition{Pause: Pause{Deadline: deadline}}}
	owner := loopstate.Owner{Standing: loopstate.Standing{WorksAt: began, Status: asJSON(t, now)}}
	runs := Status{State: StateRunning, Usage: Usage{Elapsed: time.Second}}
	if runs.show(owner); runs.Elapsed < 11*time.Minute || runs.Elapsed > 12*time.Minute {
		t.Errorf("it has worked %v", runs.Elapsed)
	}
	now.Questions = []ask.Question{{ID: "q1", Kind: ask.Permission}}
	owner.Status = asJSON(t, now)
	asks := Status{State: StateRunning, Usage: Usage{Elapsed: time.Second}}
	if asks.show(owner); asks.State != StateWaiting || asks.Elapsed != time.Second || !asks.Deadline.Equal(deadline) {
		t.Errorf("one that asks is %s, has worked %v and ends at %v", asks.State, asks.Elapsed, asks.Deadline)
	}
}
