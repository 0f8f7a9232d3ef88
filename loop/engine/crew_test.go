package engine

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// An iteration that was cut off is begun again under its number, in the same session file.
func TestStepsThatGoOnAreNotShownAsThoseBefore(t *testing.T) {
	bubble(t, func(t *testing.T) {
		slow := speaks(1, "found")
		slow.lasts = time.Hour
		r, _ := crewed(t, []string{"a"}, nil, map[string][]run{"a": {slow}})
		var seen []string
		for range 3 {
			time.Sleep(10 * time.Second)
			left := r.left()
			r.Interrupt()
			r.Wait()
			if r.file.state != nil {
				left = r.left()
			}
			seen = append(seen, r.calls()...)
			r, _ = crewedIn(t, left, []string{"a"}, nil, map[string][]run{"a": {slow}})
		}
		r.Cancel()
		r.Wait()
		seen = append(seen, r.calls()...)
		slices.Sort(seen)
		if len(seen) < 3 || len(slices.Compact(slices.Clone(seen))) != len(seen) {
			t.Errorf("shown as %q", seen)
		}
	})
}

// Who isn't logged in doesn't have those before it work again and again.
func TestAStepOfNobodyEndsTheLoopAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, tr := crewed(t, []string{"scout", "planner", "worker"}, nil, map[string][]run{
			"scout": {speaks(1, "found")}, "planner": {fails(stream.KindAuth, "not logged in")}, "worker": {says("never")},
		})
		if end := r.ended(tr, loop.StopUnauthorized, "scout planner"); end.Cost != stream.USD(1) || end.Error != "step 2 of 3 (planner): not logged in" {
			t.Errorf("got %+v", end)
		}
	})
}

func TestNextEndsAllThatWorkAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		slow, done := speaks(1, "found"), says("<promise>DONE</promise>")
		slow.lasts = time.Hour
		r, tr := crewed(t, []string{"a b"}, nil, map[string][]run{"a": {slow, done}, "b": {slow, done}})
		time.Sleep(10 * time.Second)
		must.OK(t, must.Err(r.Next()))
		end := r.Wait()
		if end.Reason != loop.StopPromise || end.Iterations != 2 || end.Cost != stream.USD(2) || len(tr.order) != 4 || time.Duration(end.Duration) > time.Minute || tr.now != 0 {
			t.Errorf("%+v, %q\n%s", end, tr.order, strings.Join(r.log.lines, "\n"))
		}
	})
}

// Those that are still being started then are asked to end as those that work, once they are there.
func TestNextEndsWhoIsStillBeingStarted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		hears := func() run {
			slow := speaks(1, "found")
			slow.lasts, slow.talk = time.Hour, &talk{}
			return slow
		}
		late, done := make(chan struct{}), says("<promise>DONE</promise>")
		r, tr := crewedLater(t, nil, []string{"a b"}, nil, map[string][]run{"a": {hears(), done}, "b": {hears(), done}})
		r.start = func(spec backends.Spec) (progress.Agent, error) {
			if spec.Args[1] == "b" {
				<-late
			}
			return tr.start(spec)
		}
		must.OK(t, r.begin())
		time.Sleep(10 * time.Second)
		must.OK(t, must.Err(r.Next()))
		synctest.Wait()
		close(late)
		if end := r.Wait(); end.Reason != loop.StopPromise || len(tr.order) != 4 {
			t.Errorf("%+v, %q", end, tr.order)
		}
		for _, name := range []string{"a", "b"} {
			if n := tr.plays[name][0].talk.aborted; n != 1 {
				t.Errorf("%s was asked to end %d times\n%s", name, n, strings.Join(r.log.lines, "\n"))
			}
		}
	})
}

// Guidance is delivered with the first agent that has it, whichever that is.
func TestGuidanceIsDeliveredToWhoeverBegins(t *testing.T) {
	bubble(t, func(t *testing.T) {
		left := &loopstate.State{LoopID: "ralph-test", Prompt: "Build it", Active: true, Steering: loopstate.Steering{Queued: []string{"use tabs"}}}
		r, _ := crewedIn(t, left, []string{"gone a"}, func(c *setup.Config) { c.Limits.MaxFailures = 1 }, map[string][]run{
			"gone": {{gone: true}}, "a": {speaks(1, "found")},
		})
		r.Wait()
		if !r.log.has("delivered: use tabs") || r.log.count("delivered: use tabs") != 1 {
			t.Errorf("told %s", strings.Join(r.log.lines, "\n"))
		}
	})
}

// An iteration some of whose agents could not begin didn't go well, even when the limit is raised then.
func TestALimitThatIsRaisedTooLateMakesNoIterationWhole(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dear := stream.Usage{Cost: stream.USD(5)}
		r, tr := crewed(t, []string{"a a", "b"}, func(c *setup.Config) { c.Limits.MaxCostUSD, c.Roles.AtOnce = 5, 1 }, map[string][]run{
			"a": {{events: []stream.Event{dear, stream.TurnEnd{StopReason: "stop"}}, result: stream.Result{Text: "found", Usage: dear}}}, "b": {says("never")},
		})
		r.log.mu.Lock()
		r.log.then = func(e stream.Event) {
			if e == (stream.TurnEnd{}) { // a step is over
				r.file.edit(func(s *loopstate.State) { s.MaxCostUSD = new(float64(100)) })
				r.engine.state.Status.Limits.MaxCostUSD = 100
			}
		}
		r.log.mu.Unlock()
		r.ended(tr, loop.StopMaxCost, "a")
	})
}

// left is a copy of the state file, as a program leaves it that is killed now.
func (r *rig) left() *loopstate.State {
	r.file.mu.Lock()
	defer r.file.mu.Unlock()
	left := *r.file.state
	return &left
}

// calls are the ids and tasks under which the agents of the steps are shown.
func (r *rig) calls() (calls []string) {
	for _, e := range r.log.agent {
		if c, ok := e.(stream.ToolCall); ok && c.Name == "step" {
			s, _ := c.Subagent()
			calls = append(calls, c.ID+" "+s.Task)
		}
	}
	return calls
}

// A loop that was killed in the middle begins its steps again, and what they cost stays.
func TestAKilledLoopBeginsItsStepsAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		steps, slow, done := []string{"scout", "worker"}, speaks(1, "found"), speaks(1, "<promise>DONE</promise>")
		slow.lasts = time.Hour
		r, _ := crewed(t, steps, nil, map[string][]run{"scout": {speaks(1, "found")}, "worker": {slow}})
		time.Sleep(10 * time.Second)
		left := r.left()
		r.Kill()
		r, tr := crewedIn(t, left, steps, nil, map[string][]run{"scout": {speaks(1, "found")}, "worker": {done}})
		if end := r.ended(tr, loop.StopPromise, "scout worker"); end.Cost != stream.USD(4) || end.Iterations != 2 {
			t.Errorf("got %+v", end)
		}
	})
	bubble(t, func(t *testing.T) { // while it waits for a limit: the iteration keeps its number
		steps, refused := []string{"scout", "worker"}, fails(stream.KindRateLimit, "429")
		r, _ := crewed(t, steps, nil, map[string][]run{"scout": {speaks(1, "found")}, "worker": {refused}})
		time.Sleep(10 * time.Second)
		left := r.left()
		r.Kill()
		before := r.calls()
		r, _ = crewedIn(t, left, steps, nil, map[string][]run{"scout": {speaks(1, "found")}, "worker": {says("<promise>DONE</promise>")}})
		r.Wait()
		if got := r.calls(); len(got) != 2 || !strings.HasPrefix(got[0], "step-1-1-1-") || !strings.HasSuffix(got[0], " Build it") || slices.Contains(before, got[0]) || slices.Contains(before, got[1]) {
			t.Errorf("shown as %q, and before as %q", got, before)
		}
	})
}
