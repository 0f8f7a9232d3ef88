package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// troupe plays the runs of agents in steps, by the agents' names; the last run of each
// again and again.
type troupe struct {
	mu    sync.Mutex
	plays map[string][]run
	specs map[string][]backends.Spec
	order []string
	now   int // that work at this moment
	most  int
}

func (tr *troupe) start(spec backends.Spec) (progress.Agent, error) {
	name := spec.Args[len(spec.Args)-1]
	tr.mu.Lock()
	defer tr.mu.Unlock()
	runs := tr.plays[name]
	n := min(len(tr.specs[name]), len(runs)-1)
	tr.specs[name], tr.order = append(tr.specs[name], spec), append(tr.order, name)
	if runs[n].gone {
		return nil, fmt.Errorf("no such program")
	}
	tr.now++
	tr.most = max(tr.most, tr.now)
	p := &played{run: runs[n], spec: spec, stop: make(chan time.Duration, 10), done: make(chan backends.Exit, 1)}
	go p.play()
	return &acting{listener{p}, tr}, nil
}

// acting is a running agent of a troupe.
type acting struct {
	listener
	troupe *troupe
}

func (a *acting) Wait() backends.Exit {
	exit := a.played.Wait()
	a.troupe.mu.Lock()
	defer a.troupe.mu.Unlock()
	a.troupe.now--
	return exit
}

// prompt is what an agent was given in its nth run, with all that it was told besides.
func (tr *troupe) prompt(name string, n int) string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if n >= len(tr.specs[name]) {
		return ""
	}
	return tr.specs[name][n].Prompt + "\n" + strings.Join(tr.specs[name][n].Ours, "\n")
}

// crewed begins a loop whose iterations have steps: a text each, "a b" for agents that
// work at once, "-a" for one that is to read only.
func crewed(t *testing.T, steps []string, configure func(*setup.Config), plays map[string][]run) (*rig, *troupe) {
	t.Helper()
	return crewedIn(t, nil, steps, configure, plays)
}

// crewedIn is the same in a folder that may hold a state file, whose loop goes on.
func crewedIn(t *testing.T, found *loopstate.State, steps []string, configure func(*setup.Config), plays map[string][]run) (*rig, *troupe) {
	t.Helper()
	r, tr := crewedLater(t, found, steps, configure, plays)
	must.OK(t, r.begin())
	return r, tr
}

// crewedLater is a loop of crewedIn's that is still to begin.
func crewedLater(t *testing.T, found *loopstate.State, steps []string, configure func(*setup.Config), plays map[string][]run) (*rig, *troupe) {
	t.Helper()
	tr := &troupe{plays: plays, specs: map[string][]backends.Spec{}}
	r := prepare(t, found, func(c *setup.Config) {
		c.Continue = found != nil
		for _, names := range steps {
			var step []setup.Role
			for _, name := range strings.Fields(names) {
				agent := strings.TrimLeft(name, "-")
				step = append(step, setup.Role{Hat: hats.Hat{Name: agent, ReadOnly: agent != name}, Backend: c.Backend, Args: []string{"--agent", agent}})
			}
			c.Roles.Steps = append(c.Roles.Steps, step)
		}
		if configure != nil {
			configure(c)
		}
	})
	r.start = tr.start
	return r, tr
}

// ended waits for the loop's end and checks its reason, and who ran.
func (r *rig) ended(tr *troupe, why loop.StopReason, order string) loop.End {
	r.t.Helper()
	end := r.Wait()
	if got := strings.Join(tr.order, " "); end.Reason != why || got != order {
		r.t.Errorf("over: %s (%s) after %q, want %s after %q\n%s", end.Reason, end.Error, got, why, order, strings.Join(r.log.lines, "\n"))
	}
	return end
}

// speaks is a run that says something with a tool call before it.
func speaks(usd float64, text string) run {
	r := costs(usd, text)
	r.events = append([]stream.Event{
		stream.SessionStart{Backend: "pi", Model: "m1", SessionID: fmt.Sprint(usd)},
		stream.ToolCall{ID: "t1", Name: "read"}, stream.ToolResult{ID: "t1", Output: "package a"},
	}, r.events...)
	r.events = append(r.events, stream.MessageEnd{MessageID: "m1", Text: text}, stream.TurnEnd{StopReason: "stop"})
	r.result.ToolCalls, r.result.Turns = 1, 2
	return r
}

func TestAChainOfThreeHandsOnWhatEachSaid(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, tr := crewed(t, []string{"scout", "planner", "worker"}, func(c *setup.Config) {
			c.Roles.Steps[0][0].Task = "Find what this needs: {prompt}"
			c.Roles.Steps[1][0].Task = "Plan it: {previous}"
			c.Roles.Steps[1][0].Instructions = "You plan."
		}, map[string][]run{
			"scout":   {speaks(1, "a.go has {prompt} and {previous} in it")},
			"planner": {speaks(2, "1. mend it <promise>DONE</promise>")},
			"worker":  {speaks(3, "Mended.\n\n<promise>DONE</promise>")},
		})
		end := r.ended(tr, loop.StopPromise, "scout planner worker")
		if end.Iterations != 1 || end.Cost != stream.USD(6) || end.Tokens.Input != 30 || time.Duration(end.Duration) < 3*time.Second {
			t.Errorf("got %+v", end)
		}
		if e := r.log.ends[0]; e.ToolCalls != 3 || e.Turns != 6 || e.Text != "Mended.\n\n<promise>DONE</promise>" || e.Cost != stream.USD(6) {
			t.Errorf("the iteration ended with %+v", e)
		}
		for agent, says := range map[string][]string{
			"scout":   {"Find what this needs: Build it\n", "This is iteration 1, and you are an agent in step 1 of 3 (scout).", "You can't end the loop"},
			"planner": {"Plan it: a.go has {prompt} and {previous} in it\n", "You plan.", "step 2 of 3 (planner)"},
			"worker":  {"Build it\n\nWhat the step before this one came to:\n\n1. mend it <promise>DONE</promise>", "<promise>DONE</promise>, on a line of its own"},
		} {
			for _, text := range says {
				if !strings.Contains(tr.prompt(agent, 0), text) {
					t.Errorf("the %s isn't told %q: %s", agent, text, tr.prompt(agent, 0))
				}
			}
		}
		if got := r.calls(); !slices.Equal(got, []string{"step-1-1-1 Find what this needs: Build it", "step-1-2-1 Plan it: …", "step-1-3-1 "}) {
			t.Errorf("shown as %q", got)
		}
		if strings.Contains(tr.prompt("scout", 0), "on a line of its own") {
			t.Error("the scout is told how to end the loop")
		}
		var want []string
		for n, said := range []string{"a.go has {prompt} and {previous} in it", "1. mend it <promise>DONE</promise>", "Mended.\n\n<promise>DONE</promise>"} {
			id := fmt.Sprintf("step-1-%d-1", n+1)
			want = append(want, "call "+id+" step, below ")
			if n == 0 {
				want = append(want, "session m1")
			}
			want = append(want, "call "+id+"/t1 read, below "+id, "result "+id+"/t1 package a, below "+id,
				"says "+said+", id "+id+"/m1, below "+id, "result "+id+" "+said+", below ")
		}
		if got := shown(r.log.agent); !slices.Equal(got, want) {
			t.Errorf("live:\n%s", strings.Join(got, "\n"))
		}
		at := slices.IndexFunc(r.log.agent, func(e stream.Event) bool { c, ok := e.(stream.ToolCall); return ok && c.ID == "step-1-2-1" })
		sub, ok := r.log.agent[at].(stream.ToolCall).Subagent()
		if want := (stream.Subagent{Agent: "planner", Task: "Plan it: …", Step: 2, Of: 3, Mode: stream.ModeSingle, Count: 1}); !ok || sub != want {
			t.Errorf("the step is shown as %+v", sub)
		}
	})
}

func TestScoutsWorkAtOnceFourAtATime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, tr := crewed(t, []string{"-scout -scout -scout -scout -scout -critic", "worker"}, nil, map[string][]run{
			"scout": {speaks(1, "found")}, "critic": {speaks(0.5, "bad")}, "worker": {speaks(1, "<promise>DONE</promise>")},
		})
		end := r.Wait()
		if tr.most != 4 || len(tr.order) != 7 || tr.order[6] != "worker" || end.Reason != loop.StopPromise || end.Cost != stream.USD(6.5) {
			t.Errorf("%d at once, %q, %+v", tr.most, tr.order, end)
		}
		if got := tr.prompt("worker", 0); !strings.Contains(got, "## scout 1\n\nfound\n\n## scout 2\n\nfound\n") || !strings.Contains(got, "## critic\n\nbad\n") {
			t.Errorf("the worker was given %s", got)
		}
		if got := tr.prompt("critic", 0); !strings.Contains(got, "Change nothing") || !strings.Contains(got, "at the same time") {
			t.Errorf("the critic was told %s", got)
		}
		var dirs []string
		for _, spec := range tr.specs["scout"] {
			if dirs = append(dirs, spec.Scope.TempDir); spec.Scope.LoopID != "ralph-test" {
				t.Errorf("it runs for the loop %q", spec.Scope.LoopID)
			}
		}
		slices.Sort(dirs)
		if len(slices.Compact(dirs)) != 5 {
			t.Errorf("the scouts share their temporary folders: %q", dirs)
		}
		for _, dir := range dirs {
			if _, err := os.Stat(dir); !os.IsNotExist(err) {
				t.Errorf("%s is left: %v", dir, err)
			}
		}
		// Each has its events below its own call, whoever speaks between them.
		said := map[string]bool{}
		for _, line := range shown(r.log.agent) {
			if id, ok := strings.CutPrefix(line, "says found, id "); ok {
				said[id] = true
			}
		}
		for k := 1; k <= 6; k++ {
			of := func(lines []string) []string {
				return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return !strings.Contains(line, fmt.Sprintf("step-1-1-%d", k)) })
			}
			if live := of(shown(r.log.agent)); len(live) != 5 {
				t.Errorf("agent %d:\n%s", k, strings.Join(live, "\n"))
			}
		}
		for k := 1; k <= 5; k++ {
			if id := fmt.Sprintf("step-1-1-%d", k); !said[id+"/m1, below "+id] {
				t.Errorf("nothing was said below %s: %v", id, said)
			}
		}
	})
}

func TestAnAgentThatFailsEndsItsIteration(t *testing.T) {
	long := speaks(1, "found")
	long.lasts = time.Hour
	for name, tt := range map[string]struct {
		steps []string
		fails run
		order string
		want  string
	}{
		"in a chain":      {[]string{"scout", "planner", "worker"}, fails("server", "500"), "scout planner", "step 2 of 3 (planner): 500"},
		"it isn't there":  {[]string{"scout", "planner", "worker"}, run{gone: true}, "scout planner", "step 2 of 3 (planner): no such program"},
		"beside others":   {[]string{"planner slow slow"}, fails("server", "500"), "", "planner: 500"},
		"an exit code":    {[]string{"planner", "worker"}, run{code: 3}, "planner", "step 1 of 2 (planner): the agent exited with code 3"},
		"nobody listened": {[]string{"planner", "worker"}, run{silent: true, lasts: time.Millisecond}, "planner", "step 1 of 2 (planner): the agent ended at once without any output"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r, tr := crewed(t, tt.steps, func(c *setup.Config) { c.Limits.MaxFailures = 1 }, map[string][]run{
					"scout": {speaks(1, "found <promise>DONE</promise>")}, "planner": {tt.fails}, "worker": {says("never")}, "slow": {long},
				})
				end := r.Wait()
				if got := strings.Join(tr.order, " "); tt.order != "" && got != tt.order || end.Error != tt.want || end.Reason != loop.StopFailures && end.Reason != loop.StopBackendError {
					t.Errorf("%s: %s after %q\n%s", end.Reason, end.Error, got, strings.Join(r.log.lines, "\n"))
				}
				if time.Duration(end.Duration) > time.Minute {
					t.Errorf("it took %v", end.Duration)
				}
				for _, line := range shown(r.log.agent) {
					if strings.HasPrefix(line, "result step-1-1-2") && line != "result step-1-1-2 stopped, as planner failed, below " && !strings.Contains(line, "/t1") {
						t.Error(line)
					}
				}
			})
		})
	}
}

func TestWhatTheAgentsOfAnIterationSpendIsOneSum(t *testing.T) {
	goesOn := func(usd float64) run {
		r := costs(usd, "more")
		r.lasts = time.Hour
		return r
	}
	limited := func(c *setup.Config) { c.Limits.MaxCostUSD = 5 }
	for name, tt := range map[string]struct {
		steps []string
		plays map[string][]run
		order string
		cost  float64
	}{
		"at once":                             {[]string{"a a", "b"}, map[string][]run{"a": {goesOn(2.4)}, "b": {says("never")}}, "a a", 4.8},
		"one alone, as there is room for one": {[]string{"a a", "b"}, map[string][]run{"a": {speaks(2.5, "dear"), speaks(2.5, "dear")}, "b": {says("never")}}, "a a", 5},
		"between steps":                       {[]string{"a", "b"}, map[string][]run{"a": {speaks(5, "LOOP_COMPLETE")}, "b": {says("never")}}, "a", 5},
		"in the second":                       {[]string{"a", "b"}, map[string][]run{"a": {speaks(3, "dear")}, "b": {goesOn(2)}}, "a b", 5},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r, tr := crewed(t, tt.steps, limited, tt.plays)
				end := r.ended(tr, loop.StopMaxCost, tt.order)
				if end.Cost != stream.USD(tt.cost) || time.Duration(end.Duration) > time.Minute {
					t.Errorf("got %+v", end)
				}
				if !r.log.has("warning: $5.00 of $5.00 are spent") && !r.log.has("of $5.00 are spent") {
					t.Errorf("nobody was warned\n%s", strings.Join(r.log.lines, "\n"))
				}
			})
		})
	}
	bubble(t, func(t *testing.T) { // who says so in the last step while the last dollar goes is done
		r, tr := crewed(t, []string{"a", "b"}, limited, map[string][]run{"a": {speaks(3, "found")}, "b": {{
			events: []stream.Event{stream.Usage{Cost: stream.USD(2)}, stream.TurnEnd{StopReason: "stop"}},
			result: stream.Result{Text: "<promise>DONE</promise>", Usage: stream.Usage{Cost: stream.USD(2)}},
		}}})
		r.ended(tr, loop.StopPromise, "a b")
	})
}

func TestALoopEndsInTheMiddleOfItsSteps(t *testing.T) {
	slow := speaks(1, "found")
	slow.lasts = time.Hour
	for name, tt := range map[string]struct {
		configure func(*setup.Config)
		act       func(*Loop)
		why       loop.StopReason
		outcome   loop.Outcome
	}{
		"cancelled":   {nil, (*Loop).Cancel, loop.StopCancelled, loop.OutcomeCancelled},
		"interrupted": {nil, (*Loop).Interrupt, loop.StopInterrupted, loop.OutcomeCancelled},
		"silent":      {func(c *setup.Config) { c.Limits.IdleTimeout, c.Limits.MaxFailures = time.Minute, 1 }, nil, loop.StopFailures, loop.OutcomeTimeout},
		"overtime":    {func(c *setup.Config) { c.Limits.IdleTimeout, c.Limits.MaxDuration = 0, time.Minute }, nil, loop.StopMaxTime, loop.OutcomeCancelled},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r, tr := crewed(t, []string{"scout", "a b", "worker"}, tt.configure, map[string][]run{
					"scout": {speaks(1, "found")}, "a": {slow}, "b": {slow}, "worker": {says("never")},
				})
				time.Sleep(10 * time.Second)
				synctest.Wait()
				if st := r.Status(); len(st.Agents) != 2 || st.LastSign.IsZero() || st.Cost != stream.USD(3) || st.Elapsed < 10*time.Second {
					t.Errorf("in the middle it is %+v", st)
				}
				if tt.act != nil {
					tt.act(r.Loop)
				}
				end := r.Wait()
				var stopped []string
				for _, e := range r.log.agent {
					if res, ok := e.(stream.ToolResult); ok && res.Output == "stopped with its iteration" && res.IsError {
						stopped = append(stopped, res.ID)
					}
				}
				if slices.Sort(stopped); !slices.Equal(stopped, []string{"step-1-2-1", "step-1-2-2"}) {
					t.Errorf("stopped are %q", stopped)
				}
				if end.Reason != tt.why || r.log.ends[0].Outcome != tt.outcome || end.Cost != stream.USD(3) || len(tr.order) != 3 || tr.now != 0 {
					t.Errorf("%s, %+v, %q\n%s", end.Reason, r.log.ends, tr.order, strings.Join(r.log.lines, "\n"))
				}
			})
		})
	}
}

// An agent that waits by itself isn't silent, whoever speaks beside it.
func TestAnAgentOfAStepMayWait(t *testing.T) {
	bubble(t, func(t *testing.T) {
		begun := make(chan *rig, 1)
		waits, speaks := says("found"), speaks(1, "found")
		speaks.during = func() { // while the other waits
			time.Sleep(10 * time.Second)
			r := <-begun
			r.engine.inbox.Do(func() { r.engine.runs.handle(stream.Text{Delta: "found", ParentToolCallID: "step-1-1-2"}) })
		}
		waits.events, waits.lasts = []stream.Event{stream.Retry{Attempt: 1, Delay: stream.Duration(20 * time.Minute)}}, 21*time.Minute
		r, tr := crewed(t, []string{"a b", "c"}, func(c *setup.Config) { c.Limits.IdleTimeout = 2 * time.Minute }, map[string][]run{
			"a": {waits}, "b": {speaks}, "c": {says("<promise>DONE</promise>")},
		})
		begun <- r
		if end := r.Wait(); end.Reason != loop.StopPromise || len(tr.order) != 3 {
			t.Errorf("%s (%s)\n%s", end.Reason, end.Error, strings.Join(r.log.lines, "\n"))
		}
	})
}

// Who is silent is ended, however much the others say; who waits on purpose isn't silent.
func TestOneSilentAgentOfSeveralIsNoticed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		hangs, waits, talks := speaks(1, "x"), says("y"), speaks(1, "z")
		hangs.lasts, talks.lasts = time.Hour, time.Hour
		waits.events, waits.lasts = []stream.Event{stream.Retry{Attempt: 1, Delay: stream.Duration(20 * time.Minute)}}, time.Hour
		r, tr := crewed(t, []string{"talks waits hangs", "last"}, func(c *setup.Config) { c.Limits.IdleTimeout, c.Limits.MaxFailures = 2*time.Minute, 1 }, map[string][]run{
			"talks": {talks}, "waits": {waits}, "hangs": {hangs}, "last": {says("never")},
		})
		time.Sleep(time.Second)
		tr.mu.Lock()
		says := tr.specs["talks"][0].OnOutput
		tr.mu.Unlock()
		for range 20 {
			time.Sleep(10 * time.Second)
			says()
		}
		end := r.Wait()
		if want := "step 1 of 2 (hangs): no output for longer than the idle timeout"; end.Error != want || r.log.ends[0].Outcome != loop.OutcomeTimeout || r.log.ends[0].Error != want || time.Duration(end.Duration) > 3*time.Minute {
			t.Errorf("%+v\n%s", end, strings.Join(r.log.lines, "\n"))
		}
	})
}

func TestAPromiseOfSeveralIsThatOfAll(t *testing.T) {
	bubble(t, func(t *testing.T) {
		done, not := says("<promise>DONE</promise>"), says("not yet")
		r, tr := crewed(t, []string{"a b"}, nil, map[string][]run{"a": {done, done}, "b": {not, done}})
		if end := r.Wait(); end.Reason != loop.StopPromise || end.Promise != "DONE" || len(tr.order) != 4 {
			t.Errorf("%+v, %q", end, tr.order)
		}
		if !r.log.has("warning: a: done; b: not done.") {
			t.Errorf("nobody was told\n%s", strings.Join(r.log.lines, "\n"))
		}
	})
}

func TestARefusedStepIsBegunAgainWithItsIteration(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, tr := crewed(t, []string{"scout", "worker"}, nil, map[string][]run{
			"scout": {speaks(1, "found")}, "worker": {fails(stream.KindRateLimit, "429"), says("<promise>DONE</promise>")},
		})
		end := r.ended(tr, loop.StopPromise, "scout worker scout worker")
		if end.Cost != stream.USD(2) || end.Iterations != 1 {
			t.Errorf("got %+v", end)
		}
		if ids := r.calls(); len(ids) != 4 || ids[0] == ids[2] || ids[1] == ids[3] || !strings.HasPrefix(ids[3], "step-1-2-1-") {
			t.Errorf("shown as %q", ids)
		}
	})
}

func TestAReaderThatWritesIsTold(t *testing.T) {
	dir := t.TempDir()
	quick := writes(t)
	r, tr := crewed(t, []string{"writer", "-scout -critic", "worker"}, func(c *setup.Config) { kept(t, dir)(c); c.Limits.MaxIterations = 1 }, map[string][]run{
		"writer": {writes(t, filepath.Join(dir, "a"), "1\n")}, "scout": {writes(t, filepath.Join(dir, "b"), "1\n")},
		"critic": {quick}, "worker": {writes(t, filepath.Join(dir, "c"), "1\n")},
	})
	r.Wait()
	if !r.log.has("warning: 1 file changed while step 2 of 3 (scout, critic) ran, which are to read only") || r.log.count("read only") != 1 {
		t.Errorf("nobody was told\n%s", strings.Join(r.log.lines, "\n"))
	}
	r.changed("1: 3 +3 -0")
	if len(tr.order) != 4 {
		t.Errorf("%q ran", tr.order)
	}
}

func TestEachRunOfAStepIsRecordedByItself(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r, _ := crewed(t, []string{"a a", "b"}, func(c *setup.Config) { c.Storage.Recordings = dir },
			map[string][]run{"a": {says("found")}, "b": {says("<promise>DONE</promise>")}})
		r.Wait()
		files, _ := os.ReadDir(dir)
		var names []string
		for _, f := range files {
			names = append(names, f.Name())
		}
		if want := []string{"ralph-test-001-step-1-1.jsonl", "ralph-test-001-step-1-2.jsonl", "ralph-test-001-step-2-1.jsonl"}; !slices.Equal(names, want) {
			t.Errorf("got %q", names)
		}
	})
}

func TestWhatKeepsStepsFromBeginning(t *testing.T) {
	step := []setup.Role{{Hat: hats.Hat{Name: "a"}}}
	for name, tt := range map[string]struct {
		configure func(*setup.Config)
		want      string
	}{
		"nobody": {func(c *setup.Config) { c.Roles.Steps = [][]setup.Role{step, {}} }, "step 2 has 0 agents"},
		"too many": {func(c *setup.Config) { c.Roles.Steps = [][]setup.Role{make([]setup.Role, 9)} },
			"step 1 has 9 agents: a step has 1 to 8"},
		"not there": {func(c *setup.Config) {
			c.Roles.Steps = [][]setup.Role{{{Hat: hats.Hat{Name: "a"},
				Backend: backends.Backend{Name: "no-such-agent", Command: "no-such-agent"}}}}
		}, "step 1 (a): "},
		"hats as well": {func(c *setup.Config) { c.Roles.Steps = [][]setup.Role{step}; team(c) }, "exclude each other"},
	} {
		c := prepare(t, nil, tt.configure).cfg
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
