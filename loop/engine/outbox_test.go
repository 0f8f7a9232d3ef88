package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
)

// emits is a run whose programs publish topics while it works.
func emits(r *rig, i int, last run, topics ...hats.Topic) run {
	last.during = func() {
		for _, topic := range topics {
			refused, err := hats.Emit(r.agents.specs[i].Outbox, topic)
			if isRefused := refused != ""; err != nil || isRefused != (topic.Name == "x.y") {
				r.t.Errorf("%s: refused %q, %v", topic.Name, refused, err)
			}
		}
	}
	return last
}

// What programs of a run publish comes before what its last message does, once, by the
// same rules.
func TestProgramsPublish(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := prepare(t, nil, team, says(""), says(""), says(""), promise)
		r.agents.runs[0] = emits(r, 0, publishes("plan.ready: one", "plan.ready: two"), hats.Topic{Name: "plan.ready", Payload: "zero"}, hats.Topic{Name: "plan.ready", Payload: "two"}, hats.Topic{Name: "x.y"})
		failed := emits(r, 1, says(""), hats.Topic{Name: "build.done", Payload: "of a failed run"})
		failed.code = 1
		r.agents.runs[1] = failed
		r.agents.runs[2] = emits(r, 2, says(""), hats.Topic{Name: "build.done", For: "reviewer", Payload: "good", From: "somebody"})
		must.OK(t, r.begin())
		var got []string
		r.Wait()
		for _, s := range r.file.saves {
			var pending []string
			for _, t := range s.Queue.Pending {
				pending = append(pending, strings.TrimSuffix(t.Head()+": "+t.Payload, ": "))
			}
			if now := strings.Join(pending, "; "); len(got) == 0 || got[len(got)-1] != now {
				got = append(got, now)
			}
		}
		want := []string{"loop.start", "plan.ready from planner: zero; plan.ready from planner: two; plan.ready from planner: one",
			"plan.ready from planner: two; plan.ready from planner: one; build.done from builder for reviewer: good"}
		if fmt.Sprint(got[:min(len(got), 3)]) != fmt.Sprint(want) {
			t.Errorf("%q", got)
		}
		told := strings.Join(r.log.lines, "\n")
		// Only what is handed over is told as published.
		for _, want := range []string{"end 1 ok\npublished plan.ready: zero\npublished plan.ready: two\npublished plan.ready: one\nwarning: planner may not publish x.y", "end 3 ok\npublished build.done: good"} {
			if !strings.Contains(told, want) {
				t.Errorf("nobody is told %q", want)
			}
		}
		if r.log.count("published") != 4 || !r.log.has("planner may not publish x.y, so nobody gets it") {
			t.Error(strings.Join(r.log.lines, "\n"))
		}
	})
}

// Only an agent that may run any command is told of the program.
func TestWhoIsToldOfEmit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, team, publishes("plan.ready"), publishes("build.done"), promise)
		r.over(loop.StopPromise, 3)
		if pi, claude := r.given(0), r.given(1); !strings.Contains(pi, " emit TOPIC") || strings.Contains(claude, " emit TOPIC") {
			t.Errorf("pi: %s\nclaude: %s", pi, claude)
		}
	})
}
