package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/rules"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

func TestAPromiseThatNobodySet(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, func(c *setup.Config) { c.Promise = "" }, says("<promise>DONE</promise>"), says("Done!\n<promise>DONE</promise>"), says("no"),
			withTime(says("<promise>DONE</promise>"), time.Minute))
		time.Sleep(5 * time.Second)
		if r.log.count("near miss") != 1 || !r.log.has(`near miss: DONE (The agent wrote <promise>DONE</promise>, but this loop has no promise, so that doesn't end it.) ["DONE"]`) {
			t.Errorf("log\n%s", strings.Join(r.log.lines, "\n"))
		}
		promise := "DONE"
		r.Update(loop.Patch{Given: limits.Given{Promise: &promise}})
		r.over(loop.StopPromise, 4)
	})
}

// Who is told once, and doesn't look, finds it at the end again, with how often it came.
func TestAnEndNamesThePromiseThatNobodySet(t *testing.T) {
	const cause = `the agent promised "DONE" 5 times, but no promise is set; set that one with --completion-promise, or change the prompt`
	for name, limits := range map[string]loop.Limits{"iterations": {MaxIterations: 5}, "circles": {MaxUnchanged: 5}} {
		bubble(t, func(t *testing.T) {
			said := says("Done.\n<promise>DONE</promise>")
			r := start(t, func(c *setup.Config) { c.Promise, c.Limits = "", limits }, said, said, said, said, said)
			end := r.Wait()
			if !strings.HasSuffix(end.Problem(), cause) || r.Status().Cause != cause || r.log.count("near miss") != 1 {
				t.Errorf("%s: %q, %q\n%s", name, end.Problem(), r.Status().Cause, strings.Join(r.log.lines, "\n"))
			}
		})
	}
}

// The user may answer an offer while the next run is being judged.
func TestANearMissOfAnEarlierPromiseIsNotTold(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, func(c *setup.Config) { c.Promise = "" }, withTime(says("no"), time.Minute), says("<promise>DONE</promise>"))
		time.Sleep(time.Second)
		promise := "DONE"
		r.Update(loop.Patch{Given: limits.Given{Promise: &promise}})
		miss := promises.Completion{}.Judge(stream.Result{Text: "<promise>DONE</promise>"})
		r.engine.inbox.Do(func() {
			if r.engine.events.tellNearMiss(judge.Report{Verdict: miss}); r.log.count("near miss") != 0 {
				t.Error("a near miss of a promise that counts by now was told")
			}
			if r.engine.events.tellNearMiss(judge.Report{Verdict: miss, Promise: promise}); r.log.count("near miss") != 1 {
				t.Error("a near miss of the promise was not told")
			}
		})
		r.over(loop.StopPromise, 2)
	})
}

func TestALoopThatGoesOnSaysWhatEndsIt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		found := &loopstate.State{Active: true, Iteration: 2, Values: settings.Values{Given: limits.Given{MaxIterations: new(3), Promise: new("OTHER")}}, Prompt: "Say <promise>DONE</promise>", AgentChoice: loopstate.AgentChoice{Backend: "pi"}}
		r, err := tryStart(t, found, func(c *setup.Config) {
			*c = setup.Config{Folder: c.Folder, Storage: setup.Storage{History: c.Storage.History}, Backend: c.Backend, Continue: true,
				PromiseFrom: "prompt"}
		}, says("<promise>DONE</promise>"))
		must.OK(t, err)
		r.over(loop.StopMaxIterations, 2)
		for _, want := range []string{"goal OTHER state", `warning: the prompt speaks of <promise>DONE</promise>, but this loop waits for <promise>OTHER</promise> ["DONE"]`} {
			if r.log.count(want) != 1 {
				t.Errorf("no %q\n%s", want, strings.Join(r.log.lines, "\n"))
			}
		}
	})
	promise := "NEW"
	if from := (setup.Config{Continue: true, Change: loop.Patch{Given: limits.Given{Promise: &promise}}, PromiseFrom: "start"}).PromiseSource(); from != "start" {
		t.Errorf("a promise that is given when it goes on is from %s", from)
	}
}

func TestAnAgentThatEchoesItsPromptPromisesNothing(t *testing.T) {
	prompt := "Build it. At the end say:\n\n<promise>DONE</promise>\n\nLOOP_COMPLETE"
	for _, quiet := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			var r *rig
			echo := says("")
			r = start(t, func(c *setup.Config) {
				c.Backend = backends.Custom("/bin/true", nil, backends.PromptStdin, decode.FormatText)
				c.Prompt, c.Values.Instruct, c.Limits.MaxIterations = prompt, new(!quiet), 2
				told, _ := c.Instruct(setup.Run{Iteration: 1, Prompt: prompt, Promise: "DONE", Limits: c.Limits})
				echo.result.Text = "$ cat\n  " + strings.ReplaceAll(told, "\n", "\n  ") + "\n"
			}, echo)
			r.over(loop.StopMaxIterations, 2)
			if !quiet && r.log.has("near miss") {
				t.Errorf("an echo is no near miss\n%s", strings.Join(r.log.lines, "\n"))
			}
		})
	}
}

// FuzzInstructions checks that what an agent is told ends no loop when it is
// repeated, as a whole or in part, and that what it is told ends it.
func FuzzInstructions(f *testing.F) {
	f.Add("DONE", 3, 10)
	f.Add("all tests\npass.", 0, 0)
	f.Add("x. <b>", 7, 100)
	f.Add("```", 1, 300)
	f.Fuzz(func(t *testing.T, promise string, iteration, cut int) {
		if setup.CheckPromise(promise) != nil {
			return
		}
		c := promises.Completion{Promise: promise}
		for _, spelled := range []bool{false, true} {
			told := rules.Of(iteration, loop.Limits{}) + "\n\n" + rules.Ending(promise, spelled)
			for _, echo := range []string{told, told[:max(0, min(cut, len(told)))], "Build it\n\n" + told + "\n", "> " + told} {
				if v := c.Judge(stream.Result{Text: echo}); v.Matched {
					t.Errorf("%q: %+v", echo, v)
				}
			}
		}
		ending := promises.DefaultWord
		if collapsed := strings.Join(strings.Fields(promise), " "); collapsed != "" {
			ending = promises.Tag(collapsed)
		}
		if v := c.Judge(stream.Result{Text: "All done\n" + ending}); !v.Matched {
			t.Errorf("%q doesn't end the loop: %+v", ending, v)
		}
	})
}

// A finished agent that wasn't believed is told why, once.
func TestTheNextRunIsToldHowToPromise(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, nil, says("I will output:\n\n<promise>DONE</promise>"), says("Working."), promise)
		r.over(loop.StopPromise, 3)
		if told := r.told(1); !strings.Contains(told, "where that doesn't count (in a sentence)") {
			t.Errorf("told %s", told)
		}
		if told := r.told(2); strings.Contains(told, "doesn't count") {
			t.Errorf("told again %s", told)
		}
	})
}

// What a run meant to publish is told, once per kind, and to the next run.
func TestTopicsThatWereMeant(t *testing.T) {
	bubble(t, func(t *testing.T) {
		wrong := says("```\n<event topic=\"plan.ready\">x</event>\n```")
		r := start(t, func(c *setup.Config) { team(c); c.Roles.Hats[0].MaxRuns = 0 }, wrong, wrong, publishes("plan.ready: x"),
			publishes("build.done: x"), promise)
		r.Wait()
		if r.log.count(`The agent wrote <event topic="plan.ready"> as code`) != 1 || r.log.count("published plan.ready") != 1 {
			t.Errorf("%s", strings.Join(r.log.lines, "\n"))
		}
		if told := r.told(1); !strings.Contains(told, `Of the last iteration: The agent wrote <event topic="plan.ready"> as code`) {
			t.Errorf("told %s", told)
		}
	})
}
