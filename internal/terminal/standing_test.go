package terminal

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
)

// Whatever a loop waits for, its status says it.
func TestTheStatusSaysWhyALoopWaits(t *testing.T) {
	begun := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for _, reason := range loop.WaitReasons() {
		for _, wait := range []time.Duration{5 * time.Second, 10 * time.Minute} {
			st := loop.Status{State: loop.StateWaiting, Iteration: 3, Work: loop.Work{Retry: &loop.RetryStatus{Reason: reason, ResumeAt: begun.Add(wait)}}}
			var status strings.Builder
			PrintStatus(&status, Palette{}, st, begun)
			want := loop.WaitText(reason)
			if reason == loop.WaitBackoff && wait < time.Minute {
				want = "trying again in 5s"
			}
			if said := status.String(); !strings.Contains(said, want) || wait < time.Minute && !strings.Contains(said, "5s") {
				t.Errorf("it says %q of %s", said, reason)
			}
		}
	}
}
