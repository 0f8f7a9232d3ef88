package main

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// Whatever a loop waits for, the terminal says it: in its live line, in its log
// and in status.
func TestEveryReasonToWaitIsSaid(t *testing.T) {
	begun := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for _, reason := range loop.WaitReasons() {
		for _, wait := range []time.Duration{5 * time.Second, 10 * time.Minute} {
			st := loop.Status{State: loop.StateWaiting, Iteration: 3, Retry: &loop.RetryStatus{Reason: reason, ResumeAt: begun.Add(wait)}}
			var status strings.Builder
			printStatus(&status, palette{}, st, loopstate.Owner{}, true, begun)
			for place, said := range map[string]string{
				"the live line": liveLine(st, 0, begun, 200, palette{}),
				"the log":       stateLine(loop.StateChanged{State: loop.StateWaiting, Reason: reason, ResumeAt: begun.Add(wait)}, begun),
				"status":        status.String(),
			} {
				want := loop.WaitText(reason)
				if reason == loop.WaitBackoff && wait < time.Minute {
					want = "trying again in 5s"
				}
				if !strings.Contains(said, want) || wait < time.Minute && !strings.Contains(said, "5s") {
					t.Errorf("%s says %q of %s", place, said, reason)
				}
			}
		}
	}
}
