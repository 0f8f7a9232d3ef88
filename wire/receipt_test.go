package wire

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/changes"
	"github.com/ralph-lsp/ralph-lsp/loop"
)

func TestAReceiptSaysWhatHelps(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.Local)
	capped := loop.End{Reason: loop.StopMaxIterations, Iterations: 3, Changes: &changes.Summary{Files: 2, Added: 5}, Error: "the agent asked: Bash rm -r build",
		Status: loop.Status{LoopID: "ralph-a", Folder: "/w/my app", State: loop.StateEnded, StopReason: loop.StopMaxIterations, Iteration: 3, Limits: loop.Limits{MaxIterations: 3}, EndedAt: noon}}
	done := loop.End{Reason: loop.StopPromise, Promise: "DONE", Iterations: 1, Changes: &changes.Summary{}, Status: loop.Status{LoopID: "ralph-b", Folder: "/w/app", State: loop.StateEnded, StopReason: loop.StopPromise}}
	gone := capped
	gone.Changes, gone.Error, gone.Status.GivenUp = nil, "", true
	for want, e := range map[string]loop.End{
		"Ended 2026-01-02 12:00:00|Result stopped after 3 iterations: iteration limit reached · cost unknown · 0s|Problem the agent asked: Bash rm -r build|Changed 2 files changed +5 -0|" +
			"ralph-lsp resume -C '/w/my app' --max-iterations 6|ralph-lsp cancel -C '/w/my app'|ralph-lsp changes -C '/w/my app'|ralph-lsp undo -C '/w/my app' --since 1": capped,
		"Result done: DONE after 1 iteration · cost unknown · 0s · nothing verified this · no file changed":                                                                       done,
		"Ended 2026-01-02 12:00:00|Result stopped after 3 iterations: iteration limit reached · cost unknown · 0s|Goes on no: it was discarded, or another loop was started here": gone,
	} {
		r := ReceiptOf(e, InFolder(e.Status.Folder))
		var got []string
		for _, row := range r.Rows {
			got = append(got, row.Label+" "+row.Text)
		}
		for _, c := range r.Commands {
			got = append(got, c.Line)
		}
		if text := strings.Join(got, "|"); text != want {
			t.Errorf("got  %s\nwant %s", text, want)
		}
		if r.LoopID != e.Status.LoopID || fmt.Sprint(r.StopReason) != string(e.Reason) {
			t.Errorf("got %+v", r)
		}
	}
}
