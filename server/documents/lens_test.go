package documents

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

var someTime = time.Date(2026, 1, 2, 15, 4, 5, 0, time.Local)

// badStateURI stands for the state file with a text that can't be read.
const badStateURI = uri.URI("bad")

func TestCodeLens(t *testing.T) {
	at := func(state loop.State, reason loop.StopReason) *docWorld {
		return withLoop(loop.Status{LoopID: "a", Folder: "/w", State: state, Ended: loop.Ended{StopReason: reason}, Iteration: 3, Limits: loop.Limits{MaxIterations: 50}, Usage: loop.Usage{Cost: stream.USD(1.42)},
			Work: loop.Work{Retry: &loop.RetryStatus{Reason: "rate_limit", ResumeAt: someTime}}})
	}
	pausing := withLoop(loop.Status{LoopID: "a", Folder: "/w", State: loop.StateRunning, Condition: loop.Condition{Pausing: true}})
	nameless := withLoop(loop.Status{Folder: "/w", State: loop.StateRunning, Iteration: 3})
	run := []string{
		`Run Ralph loop: ralph.loop.start {"folder":"file:///w","promptUri":"file:///w/PROMPT.md"}`,
		`Dry run: ralph.loop.start {"folder":"file:///w","promptUri":"file:///w/PROMPT.md","dryRun":true}`,
	}
	tests := []struct {
		name  string
		uri   uri.URI
		world *docWorld
		want  []string
	}{
		{"no loop", promptURI, nil, run},
		{"state file that can't be read", badStateURI, nil, nil},
		{"ended", promptURI, at(loop.StateEnded, loop.StopPromise), run},
		{"at a limit", promptURI, at(loop.StateEnded, loop.StopMaxIterations), append([]string{
			`stopped: iteration limit reached · $1.42 · Raise to 100 iterations and Go On: ralph.loop.resume {"loopId":"a","folder":"file:///w","maxIterations":100}`,
			`Discard: ralph.loop.cancel {"loopId":"a","folder":"file:///w","when":"left"}`}, run...)},
		{"never begun", promptURI, at(loop.StateEnded, loop.StopBackendError), append([]string{
			`failed: the agent never began to work · $1.42 · Run Doctor: ralph.doctor {"folder":"file:///w"}`,
			`Resume: ralph.loop.resume {"loopId":"a","folder":"file:///w"}`,
			`Discard: ralph.loop.cancel {"loopId":"a","folder":"file:///w","when":"left"}`}, run...)},
		{"state file", stateURI, nil, []string{
			`Run Ralph loop: ralph.loop.start {"folder":"file:///w","promptUri":"file:///w/.pi/ralph-loop.local.md"}`,
			`Dry run: ralph.loop.start {"folder":"file:///w","promptUri":"file:///w/.pi/ralph-loop.local.md","dryRun":true}`}},
		{"config", configURI, nil, nil},
		{"running", promptURI, at(loop.StateRunning, ""), []string{
			`3/50 · $1.42 · Cancel: ralph.loop.cancel {"loopId":"a","folder":"file:///w"}`, `Pause: ralph.loop.pause {"loopId":"a","folder":"file:///w"}`}},
		{"about to pause", promptURI, pausing, []string{
			`1 · pausing after iteration 1 · Cancel: ralph.loop.cancel {"loopId":"a","folder":"file:///w"}`, `Resume: ralph.loop.resume {"loopId":"a","folder":"file:///w"}`}},
		{"without a name, cost unknown", stateURI, nameless, []string{
			`3 · Cancel: ralph.loop.cancel {"folder":"file:///w"}`, `Pause: ralph.loop.pause {"folder":"file:///w"}`}},
		{"paused", promptURI, at(loop.StatePaused, ""), []string{
			`3/50 · $1.42 · paused · Resume: ralph.loop.resume {"loopId":"a","folder":"file:///w"}`, `Cancel: ralph.loop.cancel {"loopId":"a","folder":"file:///w"}`}},
		{"waiting", promptURI, at(loop.StateWaiting, ""), []string{
			`3/50 · $1.42 · waiting (rate limit) until 15:04 · Retry Now: ralph.loop.resume {"loopId":"a","folder":"file:///w"}`,
			`Cancel: ralph.loop.cancel {"loopId":"a","folder":"file:///w"}`, `Pause: ralph.loop.pause {"loopId":"a","folder":"file:///w"}`}},
		{"cancelling", promptURI, at(loop.StateCancelling, ""), []string{`3/50 · $1.42 · stopping: ralph.loop.open {"loopId":"a","folder":"file:///w"}`}},
		{"interrupted", stateURI, at(loop.StateInterrupted, loop.StopInterrupted), []string{
			`interrupted at 3/50 · Resume: ralph.loop.resume {"loopId":"a","folder":"file:///w"}`,
			`Discard: ralph.loop.cancel {"loopId":"a","folder":"file:///w","when":"left"}`}},
		{"failed", stateURI, at(loop.StateFailed, loop.StopStalled), []string{
			`failed at 3/50: the agent fell silent · Resume: ralph.loop.resume {"loopId":"a","folder":"file:///w"}`,
			`Discard: ralph.loop.cancel {"loopId":"a","folder":"file:///w","when":"left"}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := "---\nactive: true\n---\nBuild X"
			if tt.uri == badStateURI {
				text, tt.uri = "---\nactive: perhaps\n---\nBuild X", stateURI
			}
			d := withDoc(tt.uri, text, false, tt.world)
			lenses, err := d.CodeLens(protocol.CodeLensParams{TextDocument: protocol.TextDocumentIdentifier{URI: tt.uri}})
			must.OK(t, err)
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
			if diff := cmp.Diff(tt.want, plainActions(d, tt.uri)); diff != "" {
				t.Errorf("actions of a client without a plugin (-want +got):\n%s", diff)
			}
		})
	}
}

// plainActions are the code actions that a client without a plugin gets more than
// others, as lenses have them.
func plainActions(d *Documents, u uri.URI) (actions []string) {
	p := protocol.CodeActionParams{TextDocument: protocol.TextDocumentIdentifier{URI: u}}
	others := len(d.CodeAction(p))
	d.ed.(*docEditor).client.OptedIn = false
	all := d.CodeAction(p)
	for _, a := range all[:len(all)-others] {
		actions = append(actions, strings.TrimPrefix(a.Title, "Ralph: ")+": "+a.Command.Command+" "+string(a.Command.Arguments[0]))
	}
	return actions
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
