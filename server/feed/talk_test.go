package feed

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Words that a user types have a meaning in each state, or there is no box for them.
func TestWhatBecomesOfWords(t *testing.T) {
	for _, tt := range []struct {
		state  loop.State
		reason loop.StopReason
		agent  string
		want   string // the words of each, and into what they go
	}{
		{loop.StateRunning, "", "pi", "Steer text, Queue text"},
		{loop.StateRunning, "", "opencode", "Queue text"},
		{loop.StateRunning, "", "/bin/agent", "Queue text"},
		{loop.StatePaused, "", "pi", "Queue text"},
		{loop.StateCancelling, "", "pi", ""},
		{loop.StateEnded, loop.StopPromise, "pi", "Start prompt"},
		{loop.StateEnded, loop.StopMaxIterations, "pi", "Raise to 6 iterations and Go On say, Start prompt"},
		{loop.StateInterrupted, loop.StopInterrupted, "pi", "Resume say"},
	} {
		s := loop.Status{LoopID: "ralph-a", Folder: "/w/app", State: tt.state, Ended: loop.Ended{StopReason: tt.reason}, Iteration: 3, Limits: loop.Limits{MaxIterations: 3}, Session: stream.SessionStart{Backend: tt.agent}}
		var got []string
		for _, talk := range Talks(wire.StatusOf(s, true), s) {
			got = append(got, talk.Title+" "+talk.Key)
			encoded, err := json.Marshal(talk)
			if err != nil || talk.Hint == "" || !slices.Contains([]string{wire.CommandSteer, wire.CommandResume, wire.CommandStart}, talk.Command.Command) || !strings.Contains(string(encoded), `"arguments":[{`) {
				t.Errorf("%s: %s %v", tt.state, encoded, err)
			}
		}
		if got := strings.Join(got, ", "); got != tt.want {
			t.Errorf("%s %s with %s: %q, want %q", tt.state, tt.reason, tt.agent, got, tt.want)
		}
	}
	far := wire.LoopStatus{Host: "box-1", State: "ended", Summary: wire.Summary{Offers: []wire.Command{{Command: wire.CommandResume}}}}
	if got := Talks(far, loop.Status{}); got != nil {
		t.Errorf("of a loop elsewhere that is over: %+v", got)
	}
}

// The next loop works by the limits and the promise of the one before, and with its agent, whoever wrote the prompt.
func TestTheNextLoopTakesOverFromTheOneBefore(t *testing.T) {
	done := loop.Status{
		LoopID: "ralph-a", Folder: "/w/app", State: loop.StateEnded, Ended: loop.Ended{StopReason: loop.StopPromise}, Promise: "DONE", Session: stream.SessionStart{Backend: "claude", Model: "m"},
		Limits: loop.Limits{MaxIterations: 3, MaxCostUSD: 2},
	}
	next := func(s loop.Status) wire.StartParams {
		talks := Talks(wire.StatusOf(s, true), s)
		return talks[len(talks)-1].Arguments[0].(wire.StartParams)
	}
	p := next(done)
	if p.Folder != "file:///w/app" || p.Backend != "claude" || p.Promise == nil || *p.Promise != "DONE" || *p.MaxIterations != 3 || *p.MaxCostUSD != 2 || p.Model != "" {
		t.Errorf("the next loop takes %+v", p)
	}
	if p.MaxDuration == nil || *p.MaxDuration != 0 {
		t.Error("what the loop wasn't limited in, the next one is by the files")
	}
	hatted, program, free := done, done, done
	hatted.Hat, program.Session.Backend, free.Promise = "builder", "/bin/agent", ""
	if next(hatted).Backend != "" || next(program).Backend != "" {
		t.Error("an agent is named that hats choose, or that is a path")
	}
	if next(free).Promise != nil {
		t.Error("a loop without a promise passes on an empty one")
	}
}
