package main

import (
	"strings"
	"testing"
	"time"

	"ralph-lsp/loop"
	"ralph-lsp/stream"
)

// The file of a loop that is driven knows it up to its last turn, and that must show.
func TestCostInTheStatus(t *testing.T) {
	tests := []struct {
		name  string
		cost  stream.Cost
		agent string
		at    int
		owned bool
		want  string
	}{
		{"the first iteration", stream.Cost{}, "pi", 1, true, "unknown until this iteration ends"},
		{"of an agent that doesn't tell", stream.Cost{}, "kiro", 1, true, "unknown"},
		{"of a program", stream.Cost{}, "/bin/agent", 1, true, "unknown"},
		{"a later one", stream.Cost{}, "pi", 2, true, "unknown"},
		{"known", stream.USD(0.31), "pi", 2, true, "$0.31 at its last turn"},
		{"of an interrupted loop", stream.USD(0.31), "pi", 2, false, "$0.31"},
		{"unknown of an interrupted loop", stream.Cost{}, "pi", 1, false, "unknown"},
	}
	for _, tt := range tests {
		st := loop.Status{Cost: tt.cost, Iteration: tt.at, Session: stream.SessionStart{Backend: tt.agent}}
		if got := costWords(st, tt.owned); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Whatever a loop waits for, the terminal says it: in its live line, in its log
// and in status.
func TestEveryReasonToWaitIsSaid(t *testing.T) {
	begun := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for _, reason := range loop.WaitReasons() {
		for _, wait := range []time.Duration{5 * time.Second, 10 * time.Minute} {
			st := loop.Status{State: loop.StateWaiting, Iteration: 3, Retry: &loop.RetryStatus{Reason: reason, ResumeAt: begun.Add(wait)}}
			for place, said := range map[string]string{
				"the live line": liveLine(st, 0, begun, 200, palette{}),
				"the log":       stateLine(loop.StateChanged{State: loop.StateWaiting, Reason: reason, ResumeAt: begun.Add(wait)}, begun),
				"status":        stateWords(st, begun),
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
