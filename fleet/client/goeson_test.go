package client

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// A loop that has ended at a limit can go on with a higher one, as those of this machine.
func TestALoopAtItsLimitCanGoOn(t *testing.T) {
	d := &Client{Options: Options{Dir: "/state/seen"}}
	r := fleet.Record{Task: fleet.Task{ID: "f1", Name: "one", Flags: []string{"--max-iterations=2"}}, Changed: []string{"--max-iterations=4"},
		Phase: fleet.Ended, StopReason: "max_iterations", HasState: true, Committed: 4, Iterations: 4, Text: "stopped"}
	offers := func(l wire.LoopStatus) (all string) {
		for _, o := range l.Offers {
			all += o.Command + ": " + o.Title + "; "
		}
		return all
	}
	l := d.statusOf(r, fleet.Shown{}, false)
	if got := offers(l); !slices.Contains(l.Can, wire.CanResume) || l.MaxIterations != 4 ||
		!strings.Contains(got, "ralph.loop.resume: Raise to ") || !strings.Contains(got, "ralph.loop.fetch: ") {
		t.Errorf("it can %v, and offers %s", l.Can, got)
	}
	if p, ok := l.Offers[0].Arguments[0].(wire.ResumeParams); !ok || p.LoopID != "f1" || p.Folder != "file:///state/seen/f1" || *p.MaxIterations <= 4 {
		t.Errorf("it offers %+v", l.Offers[0].Arguments)
	}
	r.HasState = false // an older worker has kept nothing
	l = d.statusOf(r, fleet.Shown{}, false)
	if got := offers(l); slices.Contains(l.Can, wire.CanResume) || strings.Contains(got, "resume") {
		t.Errorf("it can %v, and offers %s", l.Can, got)
	}
}
