package answers

import (
	"encoding/json"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

func TestWhatAStartLeavesOpenIsOfferedWithAllThatItSays(t *testing.T) {
	permits := []start.Permit{
		{Title: "run any command behind walls", Options: start.Options{Values: settings.Values{Sandbox: sandbox.Workspace}, Agent: start.Agent{Args: []string{"--allowedTools=Bash"}}}},
		{Title: "ask you", Options: start.Options{Values: settings.Values{Permissions: "ask"}}},
	}
	offers := OffersAtStart(verify.Suggestion{Command: "make test", File: "Makefile"}, permits, []byte(`{"prompt":"x","args":["-a"]}`))
	want := []string{
		`{"title":"Verify with make test (Makefile)","command":"ralph.loop.start","arguments":[{"args":["-a"],"prompt":"x","verify":"make test"}]}`,
		`{"title":"Let it run any command behind walls","command":"ralph.loop.start","arguments":[{"args":["-a","--allowedTools=Bash"],"prompt":"x","sandbox":"workspace"}]}`,
		`{"title":"Let it ask you","command":"ralph.loop.start","arguments":[{"args":["-a"],"permissions":"ask","prompt":"x"}]}`,
	}
	for i, offer := range offers {
		if got, err := json.Marshal(offer); err != nil || i >= len(want) || string(got) != want[i] {
			t.Errorf("got %s, %v", got, err)
		}
	}
	if len(offers) != len(want) {
		t.Errorf("%d offers", len(offers))
	}
}
