package wire

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ralph-lsp/loop"
)

// exampleStates has one loop in each of its states. The editors' tests walk it too.
func exampleStates() []LoopStatus {
	examples := []LoopStatus{
		{State: string(loop.StateStarting)}, {State: string(loop.StateRunning)}, {State: string(loop.StatePaused)},
		{State: string(loop.StateCancelling)}, {State: string(loop.StateInterrupted)},
		{State: string(loop.StateWaiting), Retry: &RetryStatus{Attempt: 2, Reason: "rate_limit"}},
		{State: string(loop.StateFailed), StopReason: string(loop.StopFailures), Error: "500 overloaded", EndedAt: noon},
		{State: string(loop.StateEnded), StopReason: string(loop.StopMaxCost), EndedAt: noon},
	}
	for i := range examples {
		l := &examples[i]
		l.LoopID, l.Folder = "ralph-"+l.State, "file:///w/"+l.State
		l.Iteration, l.MaxIterations, l.Owned = 3, 50, !IsLeft(*l)
		l.Text = TextOf(*l)
	}
	return examples
}

// TestEveryStateIsKnownEverywhere names the places that have forgotten a state.
func TestEveryStateIsKnownEverywhere(t *testing.T) {
	document, err := os.ReadFile("../docs/PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := regexp.MustCompile(`"state":"([a-z|]+)"`).FindSubmatch(document)
	if listed == nil {
		t.Fatal("docs/PROTOCOL.md lists no states")
	}
	all := constants(t, "../loop", "State")
	for _, state := range all {
		forgot := func(where string) { t.Errorf("%s has forgotten the state %q", where, state) }
		if _, ok := states[loop.State(state)]; !ok {
			forgot("wire/states.go")
		}
		if !slices.Contains(strings.Split(string(listed[1]), "|"), state) {
			forgot("docs/PROTOCOL.md")
		}
		at := slices.IndexFunc(exampleStates(), func(l LoopStatus) bool { return l.State == state })
		if at < 0 {
			forgot("exampleStates")
			continue
		}
		l := exampleStates()[at]
		if Doing(l) == "" && state != string(loop.StateRunning) {
			forgot("what a loop is doing")
		}
		if TextOf(l) == "" || NewStatus([]LoopStatus{l}).Message == "Ralph" {
			forgot("the line of the status")
		}
		if IsLive(l) == loop.State(state).Over() {
			forgot("loop.State.Over, or the live states")
		}
	}
	if len(states) != len(all)+1 { // and idle
		t.Errorf("wire/states.go has %d states, the loop %d", len(states), len(all))
	}
}
