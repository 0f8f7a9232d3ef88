//go:build e2e

package e2e

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// The program's exit codes.
const (
	exitDone      = 0
	exitFailed    = 1
	exitCap       = 2
	exitCancelled = 130
)

const prompt = "Make the tests pass."

// scenario is a loop from its start to its end by itself.
type scenario struct {
	name     string
	agents   []agent
	prompt   string                       // \"\": the usual one
	turns    func(agent) []fakemodel.Turn // the model's part
	args     []string
	env      map[string]string
	exit     int
	stop     string   // the loop's stop reason
	outcomes []string // of its iterations
	check    func(*testing.T, *program)
}

var scenarios = []scenario{
	{
		name:   "three iterations to the promise",
		agents: both,
		turns: func(a agent) []fakemodel.Turn {
			return []fakemodel.Turn{
				does(fakemodel.Say("First the file."), a.write("one.txt", "1\n")), says("Written. More to do."),
				does(a.bash("touch two.txt; ls no-such-file")), says("Two of three."), // a failing tool is the agent's own matter
				does(a.write("three.txt", "3\n")), says("All is done. <promise>DONE</promise>"),
			}
		},
		args:     []string{"--max-iterations", "5", "--completion-promise", "DONE"},
		exit:     exitDone,
		stop:     "promise",
		outcomes: []string{"ok", "ok", "ok"},
		check: func(t *testing.T, p *program) {
			checkFile(t, p, "one.txt", "1\n")
			checkFile(t, p, "two.txt", "")
			checkFile(t, p, "three.txt", "3\n")
			checkFreshContext(t, p, 3)
			checkStamps(t, p)
			checkCost(t, p)
			if !p.has(func(u update) bool { return u.SessionUpdate == "tool_call_update" && u.Status == "failed" }) {
				t.Error("the failed tool isn't shown")
			}
			if got := p.end().Promise; got != "DONE" {
				t.Errorf("the promise is %q", got)
			}
			if _, err := os.Stat(p.stateFile()); err == nil {
				t.Error("the state file of a completed loop is still there")
			}
		},
	},
	{
		name:   "the prompt names the promise",
		agents: []agent{claude}, // each is told a promise above
		prompt: "Make the tests pass. When they do, output `<promise>ALL GREEN</promise>`.",
		turns: func(a agent) []fakemodel.Turn {
			return []fakemodel.Turn{says("I can not output <promise>ALL GREEN</promise> yet."), says("Nearly: <promise>GREEN</promise>"), says("They pass.\n\n**<promise>ALL GREEN</promise>**")}
		},
		args:     []string{"--max-iterations", "5"},
		exit:     exitDone,
		stop:     "promise",
		outcomes: []string{"ok", "ok", "ok"},
		check: func(t *testing.T, p *program) {
			if !p.has(func(u update) bool {
				return u.SessionUpdate == "_ralph/promise" && !u.Matched && u.Found == "GREEN" && u.Expected == "ALL GREEN"
			}) {
				t.Error("the near miss isn't reported")
			}
			updates := p.all()
			for _, want := range []string{"_ralph/goal", "_ralph/promise"} {
				if n := slices.IndexFunc(updates, func(u update) bool { return u.SessionUpdate == want }); n < 0 {
					t.Errorf("no %s", want)
				}
			}
			for _, r := range p.model.MainRequests() {
				if !strings.Contains(r.System, "output <promise>ALL GREEN</promise>, on a line of its own") {
					t.Errorf("the agent isn't told the promise: %s", r.System)
				}
			}
		},
	},
	{
		name:   "without a promise the agent is told the word",
		agents: []agent{pi},
		turns: func(a agent) []fakemodel.Turn {
			return []fakemodel.Turn{says("Half of it. LOOP_COMPLETE comes later."), says("Ported.\n\n**LOOP_COMPLETE**")}
		},
		args:     []string{"--max-iterations", "5"},
		exit:     exitDone,
		stop:     "promise",
		outcomes: []string{"ok", "ok"},
		check: func(t *testing.T, p *program) {
			for _, r := range p.model.MainRequests() {
				if !strings.Contains(r.System, "output LOOP_COMPLETE, on a line of its own") {
					t.Errorf("the agent isn't told the word: %s", r.System)
				}
			}
		},
	},
	{
		name:   "a model that refuses, breaks off and is overloaded",
		agents: both,
		turns: func(agent) []fakemodel.Turn {
			return []fakemodel.Turn{
				{Status: 403, Message: "no access to this model"},
				cutOff("<promise>DONE</promise> and"), says("Not yet."), // a promise in an answer that was cut doesn't count
				{Status: 529, Message: "Overloaded", Repeat: 2}, says("<promise>DONE</promise>"),
			}
		},
		args:     []string{"--max-iterations", "3", "--completion-promise", "DONE"},
		exit:     exitDone,
		stop:     "promise",
		outcomes: []string{"error", "ok", "ok"},
		check: func(t *testing.T, p *program) {
			saysWhy := func(u update) bool { return strings.Contains(u.Message+u.Error, "no access to this model") }
			if !p.has(saysWhy) {
				t.Error("the reason isn't shown")
			}
		},
	},
	{
		name:   "the cost cap ends a run at the end of a turn",
		agents: both,
		turns: func(a agent) []fakemodel.Turn {
			turn := does(a.bash("touch again.txt"))
			turn.Repeat = 4 // of pi's at 0.3 dollars each, the last reaches the cap; of claude's, the third
			turn.Usage = &fakemodel.Usage{Input: 100_000, Output: 10}
			return []fakemodel.Turn{turn, {HangMS: never}}
		},
		args: []string{"--max-iterations", "5", "--completion-promise", "DONE", "--max-cost", "1"},
		exit: exitCap,
		stop: "max_cost",
		check: func(t *testing.T, p *program) {
			if n := len(p.outcomes()); n != 1 {
				t.Errorf("%d iterations, want the first to be stopped", n)
			}
			if cost := p.end().CostUSD; cost == nil || *cost < 1 || *cost > 3 {
				t.Errorf("cost %v", cost)
			}
		},
	},
	{
		name:   "an agent that lingers after its result is ended",
		agents: []agent{claude},
		env:    map[string]string{"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "0"},
		turns: func(a agent) []fakemodel.Turn {
			server := map[string]any{"command": longTool("lingering"), "run_in_background": true}
			return []fakemodel.Turn{does(fakemodel.Call(a.bashTool, server)), says("It runs. <promise>DONE</promise>")}
		},
		args:     []string{"--max-iterations", "2", "--completion-promise", "DONE", "--backend-arg", "--allowedTools=Bash"},
		exit:     exitDone,
		stop:     "promise",
		outcomes: []string{"ok"},
		check: func(t *testing.T, p *program) {
			var lastWord time.Time
			for _, u := range p.all() {
				if u.SessionUpdate == "agent_message_chunk" {
					lastWord = u.Time
				}
			}
			lingered := p.end().Time.Sub(lastWord)
			if lingered < 9*time.Second { // it is told before it ends, so less is no matter of load
				t.Errorf("ended %s after its last word, want 10s", lingered)
			}
		},
	},
}

// cutOff is an answer whose connection breaks in the middle of a text block.
func cutOff(text string) fakemodel.Turn {
	begin := `event: content_block_start` + "\n" +
		`data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n" +
		`event: content_block_delta` + "\n" +
		`data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + text + `"}}` + "\n\n"
	return does(fakemodel.Step{Raw: &begin}, fakemodel.Step{SleepMS: 200}, fakemodel.Step{Drop: true})
}

func TestLoops(t *testing.T) {
	for _, s := range scenarios {
		for _, a := range s.agents {
			t.Run(s.name+"/"+a.name, func(t *testing.T) {
				t.Parallel()
				p := prepare(t, a, fakemodel.Script{Turns: s.turns(a), Chunk: []int{4, 20}})
				for name, value := range s.env {
					p.box.Setenv(name, value)
				}
				p.start(append(slices.Clone(s.args), cmp.Or(s.prompt, prompt))...)
				exit, end := p.wait(), p.end()
				if exit != s.exit || end.StopReason != s.stop {
					t.Errorf("exit %d, stop reason %q, want %d and %q", exit, end.StopReason, s.exit, s.stop)
				}
				if got := p.outcomes(); s.outcomes != nil && (!slices.Equal(got, s.outcomes) || end.Iterations != len(s.outcomes)) {
					t.Errorf("%d iterations, outcomes %q, want %q", end.Iterations, got, s.outcomes)
				}
				if s.check != nil {
					s.check(t, p)
				}
				proctest.CheckNone(t, goneWithin, p.mark)
				if t.Failed() {
					p.show()
				}
			})
		}
	}
}

func checkFile(t *testing.T, p *program, name, want string) {
	t.Helper()
	if got, err := os.ReadFile(filepath.Join(p.box.Dir, name)); err != nil || string(got) != want {
		t.Errorf("%s has %q, %v", name, got, err)
	}
}

// checkFreshContext wants each iteration to begin with the prompt as it was
// written, told the promise, and nothing of the iterations before.
func checkFreshContext(t *testing.T, p *program, iterations int) {
	t.Helper()
	var first []fakemodel.Request
	for _, r := range p.model.MainRequests() {
		if strings.Contains(r.LastUser, prompt) {
			first = append(first, r)
		}
	}
	if len(first) != iterations {
		t.Errorf("the prompt was sent %d times, want %d", len(first), iterations)
	}
	for i, r := range first {
		if r.Messages != first[0].Messages {
			t.Errorf("iteration %d begins with %d messages, the first with %d", i+1, r.Messages, first[0].Messages)
		}
		if !strings.Contains(r.System, "<promise>DONE</promise>") {
			t.Errorf("iteration %d isn't told its promise", i+1)
		}
	}
}

// checkStamps wants each line to say of which loop it is, and when.
func checkStamps(t *testing.T, p *program) {
	t.Helper()
	updates := p.all()
	for _, u := range updates {
		if u.LoopID == "" || u.LoopID != updates[0].LoopID || u.Time.IsZero() {
			t.Errorf("no loop or time in %+v", u)
		}
	}
}

// checkCost wants the end's cost to be the sum of the iterations'.
func checkCost(t *testing.T, p *program) {
	t.Helper()
	var sum float64
	for _, u := range p.all() {
		if u.SessionUpdate == "_ralph/iteration" && u.Phase == "end" && u.CostUSD != nil {
			sum += *u.CostUSD
		}
	}
	if total := p.end().CostUSD; total == nil || *total <= 0 || *total-sum > 1e-9 || sum-*total > 1e-9 {
		t.Errorf("the loop's cost is %v, its iterations' %v", total, sum)
	}
}
