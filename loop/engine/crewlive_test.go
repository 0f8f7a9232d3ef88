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
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/steering"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// minute is a run of an agent that can be talked to for a minute.
func minute(text string) run {
	r := speaks(1, text)
	r.lasts, r.talk = time.Minute, &talk{}
	return r
}

// liveCrew begins a loop whose steps' agents can be talked to, and waits for the first to work.
func liveCrew(t *testing.T, steps []string, plays map[string][]run) (*rig, *troupe) {
	t.Helper()
	r, tr := crewed(t, steps, func(c *setup.Config) {
		for _, step := range c.Roles.Steps {
			for k := range step {
				step[k].Backend.Prompt = backends.PromptLive
			}
		}
	}, plays)
	time.Sleep(time.Second)
	return r, tr
}

// hears has an agent say something of its first run.
func (tr *troupe) hears(name string, e stream.Event) {
	tr.mu.Lock()
	spec := tr.specs[name][0]
	tr.mu.Unlock()
	hear(spec, e)
}

// heard says of each agent what it was told in its first run.
func (tr *troupe) heard(names ...string) (all []string) {
	for _, name := range names {
		all = append(all, name+" "+strings.Join(tr.plays[name][0].talk.log(), ","))
	}
	return all
}

// The first that reads it counts, and who comes behind knows it.
func TestAllAgentsOfAStepAreTold(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, tr := liveCrew(t, []string{"a b", "c", "d"}, map[string][]run{
			"a": {minute("x")}, "b": {minute("y")}, "c": {minute("z")}, "d": {minute("<promise>DONE</promise>")},
		})
		if !r.IsLive() {
			t.Error("nobody can be told anything")
		}
		r.Steer(loop.Steering{Text: "not that file", Once: true})
		synctest.Wait()
		if got := tr.heard("a", "b"); !slices.Equal(got, []string{"a g1", "b g1"}) || r.log.count("guidance g1 sent") != 1 || r.log.has("queued") {
			t.Errorf("%q\n%q", got, r.log.lines)
		}
		tr.hears("b", stream.Heard{ID: "g1"})
		tr.hears("a", stream.Heard{ID: "g1"})
		if r.log.count("told not that file") != 1 || r.log.count("guidance g1 delivered") != 1 {
			t.Errorf("%q", r.log.lines)
		}
		r.Wait()
		if got := tr.heard("c", "d"); !slices.Equal(got, []string{"c ", "d "}) || r.log.has("late") {
			t.Errorf("told again: %q\n%q", got, r.log.lines)
		}
		if told := tr.prompt("d", 0); !strings.Contains(told, "not that file\n</guidance>") {
			t.Errorf("the last step is told %s", told)
		}
	})
}

func TestTheNextStepIsToldWhatCameTooLateForOne(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, tr := liveCrew(t, []string{"a", "b"}, map[string][]run{"a": {minute("x")}, "b": {minute("<promise>DONE</promise>")}})
		r.Steer(loop.Steering{Text: "stop", Once: true})
		time.Sleep(time.Minute + time.Second)
		if got := tr.heard("a", "b"); !slices.Equal(got, []string{"a g1", "b g1"}) || r.log.has("late") {
			t.Errorf("%q\n%q", got, r.log.lines)
		}
		tr.hears("b", stream.Heard{ID: "g1"})
		r.ended(tr, loop.StopPromise, "a b")
		if r.log.count("guidance g1 delivered") != 1 || r.log.count("guidance g1 sent") != 1 {
			t.Errorf("%q", r.log.lines)
		}
	})
}

// Who is done is told nothing more; the others are.
func TestAnAgentOfTheLastStepThatPromisedIsLeftAlone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		slow := minute("more to do")
		slow.result.Text = "<promise>DONE</promise>"
		r, tr := liveCrew(t, []string{"c", "a b"}, map[string][]run{"c": {minute("x")}, "a": {minute("<promise>DONE</promise>")}, "b": {slow}})
		done := stream.MessageEnd{Text: "<promise>DONE</promise>"}
		tr.hears("c", done) // who can't end the loop hasn't ended its work
		r.Steer(loop.Steering{Text: "one", Once: true})
		tr.hears("c", stream.Heard{ID: "g1"})
		time.Sleep(time.Minute + time.Second)
		r.Steer(loop.Steering{Text: "two", Once: true})
		synctest.Wait()
		if got := tr.heard("c", "a", "b"); !slices.Equal(got, []string{"c g1", "a ", "b g2"}) || !r.IsLive() {
			t.Errorf("told %q", got)
		}
		tr.hears("b", done)
		if back := tr.plays["b"][0].talk.back; r.IsLive() || back != 1 {
			t.Errorf("all are done, and b gave back %d times", back)
		}
		r.Steer(loop.Steering{Text: "three", Once: true})
		if end := r.Wait(); end.Reason != loop.StopPromise {
			t.Errorf("%+v", end)
		}
		if got := tr.heard("a", "b"); !slices.Equal(got, []string{"a ", "b g2"}) || !r.log.has("guidance g2 late") || !r.log.has("guidance g3 queued") {
			t.Errorf("told %q\n%q", got, r.log.lines)
		}
	})
}

// The whole iteration is over, with what it has cost.
func TestNextEndsAllSteps(t *testing.T) {
	bubble(t, func(t *testing.T) {
		quick := speaks(1, "<promise>DONE</promise>")
		quick.talk = &talk{}
		r, tr := liveCrew(t, []string{"a b", "c"}, map[string][]run{"a": {minute("x"), quick}, "b": {minute("y"), quick}, "c": {quick}})
		r.Steer(loop.Steering{Text: "mind this", Once: true})
		must.OK(t, must.Err(r.Next()))
		end := r.Wait()
		if slices.Sort(tr.order); !slices.Equal(tr.order, []string{"a", "a", "b", "b", "c"}) || end.Reason != loop.StopPromise || end.Iterations != 2 ||
			end.Cost != stream.USD(5) || time.Duration(end.Duration) > 10*time.Second || r.log.has("warning") {
			t.Errorf("%q, %+v\n%q", tr.order, end, r.log.lines)
		}
		if !r.log.has("guidance g1 late") || !strings.Contains(tr.prompt("a", 1), "mind this") {
			t.Errorf("%q\n%s", r.log.lines, tr.prompt("a", 1))
		}
	})
}

// What is said while the work is reviewed may be meant for who works on: both are told.
func TestTheReviewerIsToldAndTheNextRunToo(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var r *rig
		review := run{talk: &talk{}, lasts: time.Minute, result: stream.Result{Text: "Tests are missing."}}
		review.during = func() {
			r.Steer(loop.Steering{Text: "leave the tests out", Once: true})
			synctest.Wait()
			hear(r.agents.specs[1], stream.Heard{ID: "g1"})
		}
		approves := says("<promise>APPROVED</promise>")
		r = prepare(t, nil, func(c *setup.Config) {
			c.Verification.Check = verify.Check{Reviewer: "critic"}
			c.Verification.Reviewer = setup.Role{Backend: c.Backend}
			c.Verification.Reviewer.Backend.Prompt = backends.PromptLive
		}, says("<promise>DONE</promise>"), review, says("<promise>DONE</promise>"), approves)
		must.OK(t, r.begin())
		r.over(loop.StopPromise, 4)
		told := strings.Join(r.agents.specs[2].Ours, " ")
		if !slices.Equal(review.talk.log(), []string{"g1"}) || !r.log.has("told leave the tests out") || !strings.Contains(told, "leave the tests out") {
			t.Errorf("the reviewer was told %q, the next run %q", review.talk.log(), told)
		}
	})
}

// What the user says in mid-run is as good as what a run begins with.
func TestAWordInMidRunBeginsTheCountAnew(t *testing.T) {
	r := bare(func(l *Loop) { l.engine.obs, l.engine.cfg = &watcher{}, setup.Config{Folder: t.TempDir()} })
	r.engine.state.Status.Limits.MaxUnchanged = 5
	r.engine.snapshots.Found = changes.State{Tree: "A"}
	r.engine.snapshots.Now = r.engine.snapshots.Found
	for run, want := range []int{1, 2, 1, 2} {
		said := &r.engine.state.Steering
		if said.Take(nil, nil); run == 2 {
			said.Join(&steering.Listener{}, listener{&played{run: minute("")}})
			said.Learn(loopstate.State{}, loopstate.State{Steering: loopstate.Steering{Queued: []string{"try the other way"}}})
			r.engine.conversation.tell()
			r.engine.conversation.heard(stream.Heard{ID: "g1"})
		}
		r.engine.conversation.end()
		r.engine.runs.noteProgress(setup.Run{Iteration: run + 1}, judge.Report{Outcome: loop.OutcomeOK})
		if n := r.engine.state.Counts.NoProgress; n != want {
			t.Errorf("after run %d: %d, want %d", run+1, n, want)
		}
	}
}
