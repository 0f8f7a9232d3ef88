package documents

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"ralph-lsp/loop"
	"ralph-lsp/wire"
)

var someTime = time.Date(2026, 1, 2, 15, 4, 5, 0, time.Local)

// badStateURI stands for the state file with a text that can't be read.
const badStateURI = uri.URI("bad")

func TestCodeLens(t *testing.T) {
	at := func(s loop.State) *wire.LoopStatus {
		return &wire.LoopStatus{LoopID: "a", State: string(s), Iteration: 3, MaxIterations: 50, Cost: &wire.CostStatus{Amount: 1.42}}
	}
	waiting := at(loop.StateWaiting)
	waiting.Retry = &wire.RetryStatus{Reason: "rate_limit", ResumeAt: someTime}
	failed := at(loop.StateFailed)
	failed.StopReason = "stalled"
	nameless := at(loop.StateRunning)
	nameless.LoopID, nameless.Cost = "", nil
	run := []string{
		`Run Ralph loop: ralph.loop.start {"folder":"file:///w","promptUri":"file:///w/PROMPT.md"}`,
		`Dry run: ralph.loop.start {"folder":"file:///w","promptUri":"file:///w/PROMPT.md","dryRun":true}`,
	}
	tests := []struct {
		name   string
		uri    uri.URI
		status *wire.LoopStatus
		want   []string
	}{
		{"no loop", promptURI, nil, run},
		{"state file that can't be read", badStateURI, nil, nil},
		{"ended", promptURI, at(loop.StateEnded), run},
		{"state file", stateURI, nil, []string{
			`Run Ralph loop: ralph.loop.start {"folder":"file:///w","promptUri":"file:///w/.pi/ralph-loop.local.md"}`,
			`Dry run: ralph.loop.start {"folder":"file:///w","promptUri":"file:///w/.pi/ralph-loop.local.md","dryRun":true}`}},
		{"config", configURI, nil, nil},
		{"running", promptURI, at(loop.StateRunning), []string{
			`3/50 · $1.42 · Cancel: ralph.loop.cancel {"loopId":"a"}`, `Pause: ralph.loop.pause {"loopId":"a"}`}},
		{"without a name, cost unknown", stateURI, nameless, []string{
			`3/50 · Cancel: ralph.loop.cancel {"folder":"file:///w"}`, `Pause: ralph.loop.pause {"folder":"file:///w"}`}},
		{"paused", promptURI, at(loop.StatePaused), []string{
			`3/50 · $1.42 · paused · Cancel: ralph.loop.cancel {"loopId":"a"}`, `Resume: ralph.loop.resume {"loopId":"a"}`}},
		{"waiting", promptURI, waiting, []string{
			`3/50 · $1.42 · waiting (rate limit) until 15:04 · Cancel: ralph.loop.cancel {"loopId":"a"}`, `Retry now: ralph.loop.resume {"loopId":"a"}`}},
		{"cancelling", promptURI, at(loop.StateCancelling), []string{`3/50 · $1.42 · stopping · Cancel: ralph.loop.cancel {"loopId":"a"}`}},
		{"interrupted", stateURI, at(loop.StateInterrupted), []string{
			`3/50 · interrupted · Resume: ralph.loop.resume {"folder":"file:///w"}`, `Discard: ralph.loop.cancel {"folder":"file:///w"}`}},
		{"failed", stateURI, failed, []string{
			`3/50 · failed: the agent fell silent · Resume: ralph.loop.resume {"folder":"file:///w"}`, `Discard: ralph.loop.cancel {"folder":"file:///w"}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := "---\nactive: true\n---\nBuild X"
			if tt.uri == badStateURI {
				text, tt.uri = "---\nactive: perhaps\n---\nBuild X", stateURI
			}
			d := withDoc(tt.uri, text, false, &docWorld{status: tt.status})
			lenses, err := d.CodeLens(protocol.CodeLensParams{TextDocument: protocol.TextDocumentIdentifier{URI: tt.uri}})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, lens := range lenses {
				c := lens.Command
				got = append(got, c.Title+": "+c.Command+" "+string(c.Arguments[0]))
				if lens.Range != (protocol.Range{}) || len(c.Arguments) != 1 {
					t.Errorf("%s: at %+v with %d arguments, want one, on the first line", c.Title, lens.Range, len(c.Arguments))
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("lenses (-want +got):\n%s", diff)
			}
		})
	}
}

// states.json has a loop in each state; wire's tests see to that.
func TestEveryStateHasItsLens(t *testing.T) {
	var examples wire.StatusResult
	data, err := os.ReadFile("../../testdata/wire/states.json")
	if err != nil || json.Unmarshal(data, &examples) != nil || len(examples.Loops) == 0 {
		t.Fatalf("states.json: %v, %d states", err, len(examples.Loops))
	}
	for _, l := range examples.Loops {
		d := withDoc(promptURI, "Build X", false, &docWorld{status: &l})
		var titles []string
		for _, lens := range d.lenses(d.get(promptURI)) {
			titles = append(titles, lens.Command.Title)
		}
		if isOver := loop.State(l.State).Over(); isOver && !wire.IsLeft(l) != slices.Contains(titles, "Run Ralph loop") || len(titles) == 0 {
			t.Errorf("the lens has forgotten the state %q: %q", l.State, titles)
		}
	}
}
