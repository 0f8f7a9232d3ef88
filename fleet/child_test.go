package fleet

import (
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/loop"
)

// A child runs the iterations of its loop one after the other, as long as it would do what another one does.
func TestAChildStaysForItsLoop(t *testing.T) {
	const begins = `echo '{"sessionUpdate":"_ralph/iteration"}'; `
	leaves := func(with string) string { // when it is asked for the third
		return begins + `end() { echo '{"sessionUpdate":"_ralph/end","stopReason":"'$1'","iterations":'$n',"costUsd":'$n'}'; if [ $1$n = once2 ]; then ` +
			`while read -r wish; do if [ "$wish" = next ]; then ` + with + "exit 3; fi; done; fi; }"
	}
	for name, test := range map[string]struct {
		does     string
		change   func(*Handle) error // behind the first iteration
		children int
	}{
		"to its end":                      {begins, nil, 1},
		"until its flags change":          {begins, func(h *Handle) error { return h.Update(loop.Patch{Given: limits.Given{MaxIterations: new(8)}}) }, 2},
		"until it is to be told":          {begins, func(h *Handle) error { _, err := h.Steer(loop.Steering{Text: "mind the gap"}); return err }, 2},
		"until it ends when asked":        {leaves(""), nil, 2},
		"until it ends, and says so late": {leaves(`echo '{"sessionUpdate":"_ralph/end","stopReason":"once","iterations":2,"costUsd":2}'; `), nil, 2},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorks(t)
			w.write("log.stays", "")
			w.write("log.does", test.does)
			submitted := w.submit()
			h := handle(t, w.bus, submitted)
			w.worker.Observer = func(a Attempted) {
				if test.change != nil && a.Left.Attempt == 1 {
					if err := test.change(h); err != nil {
						t.Error(err)
					}
				}
			}
			r := w.until(submitted, isEnded)
			if r.StopReason != "promise" || r.Iterations != 3 || r.CostUSD != 3 || r.Committed != 3 || r.Failures != 0 || len(r.Guidance) != 0 {
				t.Errorf("it is %+v", r)
			}
			pids := map[string]bool{}
			for pid := range strings.Lines(w.read("log.pids")) {
				pids[pid] = true
			}
			if len(pids) != test.children {
				t.Errorf("%d children, want %d:\n%s", len(pids), test.children, w.said())
			}
		})
	}
}

// Nobody stays for a worker that is gone, or that has no room for it.
func TestAChildThatStaysEndsWithItsWorker(t *testing.T) {
	w := newWorks(t)
	w.write("log.stays", "")
	w.write("log.does", `echo '{"sessionUpdate":"_ralph/iteration"}'; trap 'echo gone >>"$RALPH_TEST_LOG"' EXIT`)
	w.until(w.submit(), func(r Record) bool { return r.Committed > 0 })
	if n := strings.Count(w.said(), "gone"); n != 1 {
		t.Errorf("%d have ended:\n%s", n, w.said())
	}
}
