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
		s := loop.Status{LoopID: "ralph-a", Folder: "/w/app", State: tt.state, StopReason: tt.reason, Iteration: 3, Limits: loop.Limits{MaxIterations: 3}, Session: stream.SessionStart{Backend: tt.agent}}
		var got []string
		for _, talk := range Talks(wire.StatusOf(s, true)) {
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
	far := wire.LoopStatus{Host: "box-1", State: "ended", Offers: []wire.Command{{Command: wire.CommandResume}}}
	if got := Talks(far); got != nil {
		t.Errorf("of a loop elsewhere that is over: %+v", got)
	}
}
