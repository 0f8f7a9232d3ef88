package engine

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// What stands is told to each run, is acknowledged once, and survives what the loop does.
func TestStandingGuidance(t *testing.T) {
	bubble(t, func(t *testing.T) {
		interrupted := says("five")
		interrupted.lasts = time.Hour
		first := start(t, nil, withTime(says("one"), time.Minute), fails(stream.KindRateLimit, "429"), withTime(says("two"), time.Minute), says("three"), interrupted)
		time.Sleep(time.Second)
		first.Steer(loop.Steering{Text: "Mind the tests"})
		first.Steer(loop.Steering{Text: "Use tabs"})
		time.Sleep(20 * time.Minute) // until the fifth hangs
		if got := first.Status().Standing; !reflect.DeepEqual(got, []string{"Mind the tests", "Use tabs"}) {
			t.Errorf("the status has %q", got)
		}
		if n := first.log.count("guidance g1 delivered"); n != 2 { // the refused run's doesn't count
			t.Errorf("it was delivered %d times", n)
		}
		for i, want := range []bool{false, true, true, true, true} {
			if first.agents.isTold(i, "Mind the tests") != want || first.agents.isTold(i, "Use tabs") != want {
				t.Errorf("run %d was told %q", i+1, first.agents.specs[i].Ours)
			}
			if said := strings.Join(first.agents.specs[i].Ours, " "); strings.Count(said, "Use tabs") > 1 {
				t.Errorf("run %d was told twice: %q", i+1, said)
			}
		}
		first.Interrupt()
		state, err := first.file.Load()
		must.OK(t, err)
		r, err := tryStart(t, &state, func(c *setup.Config) { *c = goesOn(*c) }, withTime(says("five"), time.Minute), says("<promise>DONE</promise>"))
		must.OK(t, err)
		time.Sleep(time.Second)
		if _, err := r.Steer(loop.Steering{Forget: 1}); err != nil {
			t.Error(err)
		}
		r.over(loop.StopPromise, 2)
		for i, want := range []bool{true, false} {
			if r.agents.isTold(i, "Mind the tests") != want || !r.agents.isTold(i, "Use tabs") {
				t.Errorf("run %d of the next process was told %q", i+1, r.agents.specs[i].Ours)
			}
		}
	})
}
