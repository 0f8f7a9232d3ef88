package loop

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// Who is of an earlier version has questions that aren't shown here, and the status says so.
func TestAnOwnerOfAnEarlierVersion(t *testing.T) {
	for control, want := range map[string]bool{"": false, "/sock": true} { // without one, it only begins
		s := Status{State: StateRunning}
		s.show(loopstate.Owner{PID: 7, Version: "0.1.0", Standing: loopstate.Standing{Control: control}})
		if got := strings.Contains(s.Cause, "earlier version; ralph-lsp watch shows it"); got != want {
			t.Errorf("on socket %q, it says %q", control, s.Cause)
		}
	}
}

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
