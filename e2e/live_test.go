//go:build e2e

package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// untilFile is a command that runs until a file is there.
func untilFile(name string) string {
	return `node -e 'setInterval(() => { if (require("fs").existsSync("` + name + `")) process.exit() }, 20)'`
}

func isGuidance(state string) func(update) bool {
	return func(u update) bool { return u.SessionUpdate == "_ralph/guidance" && u.State == state }
}

// hasTool says whether an update tells that a tool runs.
func hasTool(u update) bool { return u.SessionUpdate == "tool_call" }

// What the user says while a tool runs changes what the same run does.
func TestWordsReachTheRunningAgent(t *testing.T) {
	for _, a := range both {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			told := says("As you say. <promise>DONE</promise>")
			told.Match = "stop, not that file"
			p := prepare(t, a, fakemodel.Script{Turns: []fakemodel.Turn{told, does(a.bash(untilFile("go"))), says("I went on with that file.")}})
			p.start(a.liveArgs("--max-iterations", "1", prompt)...)
			p.await("the tool", hasTool)
			must.OK(t, p.ralphCommand("steer", "-C", p.box.Dir, "stop, not that file"))
			p.await("the words' way", isGuidance("sent"))
			if p.has(isGuidance("delivered")) {
				p.fatalf("the agent has read it while its tool runs")
			}
			must.OK(t, os.WriteFile(filepath.Join(p.box.Dir, "go"), nil, 0o600))
			if exit := p.wait(); exit != exitDone {
				p.fatalf("exit %d", exit)
			}
			if !p.has(isGuidance("delivered")) || !slices.Equal(p.outcomes(), []string{"ok"}) || len(p.model.MainRequests()) != 2 {
				p.fatalf("it wasn't the same run: %q", p.outcomes())
			}
			checkCost(t, p)
		})
	}
}

// The next iteration begins at once, nothing is left of the one before, and its cost counts.
func TestTheNextIterationBegins(t *testing.T) {
	for _, run := range modes[1:] { // a pi that can't be talked to is ended by a signal, as that claude is
		a := run.agent
		t.Run(run.flag+"/"+a.name, func(t *testing.T) {
			t.Parallel()
			toolMark := "tool-" + strings.Map(wordOnly, t.Name())
			p := prepare(t, a, fakemodel.Script{Turns: []fakemodel.Turn{does(a.bash(longTool(toolMark))), says("<promise>DONE</promise>")}})
			args := []string{run.flag, "--max-iterations", "2", "--completion-promise", "DONE"}
			for _, own := range a.anyTool {
				args = append(args, "--backend-arg", own)
			}
			p.start(append(args, prompt)...)
			p.awaitSituation(1, toolMark)
			must.OK(t, p.ralphCommand("next", "-C", p.box.Dir))
			if exit := p.wait(); exit != exitDone {
				p.fatalf("exit %d", exit)
			}
			if !slices.Equal(p.outcomes(), []string{"cancelled", "ok"}) {
				p.fatalf("the iterations: %q", p.outcomes())
			}
			first := p.await("the first iteration's end", func(u update) bool { return u.SessionUpdate == "_ralph/iteration" && u.Phase == "end" })
			if first.CostUSD == nil || *first.CostUSD == 0 {
				p.fatalf("the first iteration's cost is %v", first.CostUSD)
			}
			proctest.CheckNone(t, goneWithin, p.mark, toolMark)
		})
	}
}

// modes are the agents, each run in both ways.
var modes = []struct {
	agent agent
	flag  string
}{{pi, "--no-live"}, {pi, "--live"}, {claude, "--no-live"}, {claude, "--live"}}

// liveArgs run an agent that may use its tools and can be talked to.
func (a agent) liveArgs(more ...string) []string {
	return slices.Concat([]string{"--live", "--completion-promise", "DONE"}, a.anyToolArgs(), more)
}

// A prompt that pi refuses ends its run at once, with its reason.
func TestAPiWithoutAKeyEndsTheLoop(t *testing.T) {
	t.Parallel()
	p := prepare(t, pi, fakemodel.Script{Turns: []fakemodel.Turn{says("never")}})
	models := filepath.Join(p.box.Home, ".pi", "agent", "models.json")
	data := must.Read(t, models)
	must.OK(t, os.WriteFile(models, bytes.ReplaceAll(data, []byte(`"apiKey":"fake"`), []byte(`"apiKey":"$NO_SUCH_KEY"`)), 0o600))
	p.start("--live", "--max-iterations", "3", prompt)
	exit := p.wait()
	if end := p.end(); exit != exitFailed || end.StopReason != "unauthorized" || !strings.HasPrefix(end.Error, "No API key found for fake") || !slices.Equal(p.outcomes(), []string{"error"}) {
		p.fatalf("exit %d, %s", exit, end.line)
	}
}
