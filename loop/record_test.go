package loop

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ralph-lsp/history"
	"ralph-lsp/internal/limits"
	"ralph-lsp/loop/ask"
	"ralph-lsp/stream"
	"ralph-lsp/verify"
)

// What is kept of an event comes back from the session file.
func TestEventsComeBackFromTheirRecords(t *testing.T) {
	tokens := stream.Tokens{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4}
	notKept := map[string]string{
		"StateChanged": "of interest while the loop runs",
		"Told":         "is an input, which the agent's own session shows",
	}
	kept := map[string]Event{}
	for _, e := range []Event{
		IterationStart{Iteration: 3, MaxIterations: 50, Hat: "builder", Topic: "plan.ready"},
		IterationEnd{Iteration: 3, Hat: "builder", Outcome: OutcomeError, Error: "429", Cost: stream.USD(0.5), Tokens: tokens, Turns: 4, ToolCalls: 5, Duration: time.Minute, Skipped: 6},
		Published{Topic: "plan.ready", Target: "builder", Payload: "1. mend it"},
		Goal{Promise: "DONE", From: "prompt", Besides: "the reviewer critic approves"},
		NearMiss{Found: "DONE", Expected: "ALL DONE", Why: "it differs"},
		Guidance{ID: "g1", State: GuidanceDelivered},
		Verify{Gate: verify.CommandGate, State: verify.Refuted, Command: "go test ./...", Promised: true, Why: "failed (exit 1)", Code: 1, Duration: time.Minute, Cost: stream.USD(0.1), Output: "FAIL",
			Problems: []verify.Problem{{Path: "a_test.go", Line: 3, Column: 1, Message: "got 2"}}},
		Warning{Message: "mind the gap"},
		Asked{ask.Question{ID: "q1", Kind: ask.Select, Tool: "Bash", CallID: "t1", Agent: "scout", Title: "Which?", Detail: "A or B", Options: []string{"A", "B"},
			Placeholder: "A", Rule: "Bash(git push:*)", At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}},
		Answered{ask.Question{ID: "q1", Kind: ask.Confirm, Title: "Sure?"}, ask.Answer{Kind: ask.Value, Text: "A", By: "terminal"}},
		LimitsChanged{Limits: limits.Default(), Promise: "DONE"},
		End{Reason: StopPermissionDenied, Promise: "DONE", Iterations: 3, Limit: 50, Cost: stream.USD(1.5), Tokens: tokens, Duration: time.Hour, Error: "refused",
			Denials: []stream.Denial{{Tool: "bash", Detail: "rm"}}, Guards: "a_test.go"},
	} {
		kept[reflect.TypeOf(e).Name()] = e
		var r history.Record = RecordOf(e)
		if end, ok := e.(End); ok {
			r = endRecord(end)
		}
		if of, ok := r.(history.Event); ok { // as it is read from the file
			payload, err := json.Marshal(of.Payload)
			if err != nil {
				t.Fatal(err)
			}
			r = history.Event{Name: of.Name, Payload: json.RawMessage(payload)}
		}
		if diff := cmp.Diff(e, EventOf(r)); diff != "" {
			t.Errorf("%T: -want +got:\n%s", e, diff)
		}
	}
	src, err := os.ReadFile("event.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`func \((\w+)\) loopEvent\(\)`).FindAllStringSubmatch(string(src), -1) {
		if kept[m[1]] == nil && notKept[m[1]] == "" {
			t.Errorf("%s has no record, and nothing says why", m[1])
		}
	}
}
