//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// longTool is a command that runs until it is killed. Its processes have the
// mark in their command lines. sleep won't do: claude refuses it.
func longTool(mark string) string {
	return `node -e 'setTimeout(() => {}, 300000)' ` + mark
}

// detachedTool is a long tool that has left another process behind, in a session of its
// own, which holds none of the agent's files.
func detachedTool(mark string) string {
	return `setsid ` + longTool(mark) + ` </dev/null >/dev/null 2>&1 & ` + longTool(mark)
}

// A loop is stopped while its agent is in one of these situations.
var situations = []struct {
	name  string
	tool  func(mark string) string // nil: no tool runs, the model speaks
	tools int                      // processes that run the tool
}{
	{"in mid-stream", nil, 0},
	{"in mid-tool", detachedTool, 2},
}

// Ways in which a loop may be stopped.
var stops = []struct {
	name string
	stop func(*program) error
	exit int   // -1: killed
	kept bool  // the state file stays, so that the loop can be resumed
	in   []int // the modes that have it in mid-tool, nil for all: who is interrupted or killed asks no agent
}{
	{"cancel", func(p *program) error { return p.ralphCommand("cancel", "-C", p.box.Dir) }, exitCancelled, false, nil},
	{"SIGINT", func(p *program) error { return p.cmd.Process.Signal(os.Interrupt) }, exitCancelled, true, []int{0}},
	{"SIGTERM", func(p *program) error { return p.cmd.Process.Signal(syscall.SIGTERM) }, exitCancelled, true, []int{3}},
	{"SIGKILL", func(p *program) error { return p.cmd.Process.Kill() }, -1, true, []int{1, 2}},
}

// TestStopLeavesNothing stops loops in each situation in each way, and wants
// every process gone in time.
func TestStopLeavesNothing(t *testing.T) {
	for _, where := range situations {
		for _, how := range stops {
			for i, run := range modes {
				if where.tools == 0 && (how.in != nil || run.flag == "--live") || how.in != nil && !slices.Contains(how.in, i) {
					continue // in mid-tool there is all that is ended in mid-stream, and more
				}
				a := run.agent
				t.Run(how.name+" "+where.name+"/"+a.name+run.flag, func(t *testing.T) {
					t.Parallel()
					toolMark := fmt.Sprintf("tool-%s-%d", strings.Map(wordOnly, t.Name()), time.Now().UnixNano())
					steps := []fakemodel.Step{fakemodel.Say("Thinking aloud."), {SleepMS: never}}
					if where.tool != nil {
						steps = []fakemodel.Step{a.bash(where.tool(toolMark))}
					}
					p := prepare(t, a, fakemodel.Script{Turns: []fakemodel.Turn{does(steps...)}})
					args := []string{"--max-iterations", "3", "--completion-promise", "DONE", run.flag}
					for _, arg := range a.anyTool {
						args = append(args, "--backend-arg", arg)
					}
					p.start(append(args, prompt)...)

					loop := p.awaitSituation(where.tools, toolMark)
					began := time.Now()
					if err := how.stop(p); err != nil {
						p.fatalf("stopping: %v", err)
					}
					if exit := p.wait(); exit != how.exit {
						t.Errorf("exit %d, want %d", exit, how.exit)
					}
					proctest.CheckNone(t, goneWithin, p.mark, toolMark, "RALPH_LOOP_ID="+loop)
					t.Logf("gone %s after the stop", time.Since(began).Round(time.Millisecond))
					p.checkStopped(how.exit, how.kept)
					if t.Failed() {
						p.show()
					}
				})
			}
		}
	}
}

// awaitSituation waits until the agent speaks, or until its tool runs with so
// many processes. It returns the loop's id.
func (p *program) awaitSituation(tools int, toolMark string) string {
	p.t.Helper()
	if tools == 0 {
		return p.await("text", func(u update) bool { return u.SessionUpdate == "agent_message_chunk" }).LoopID
	}
	awaitProcesses(p, tools, "setTimeout(() => {}, 300000) "+toolMark)
	call := p.await("tool call", func(u update) bool { return u.SessionUpdate == "tool_call" })
	if state, err := os.ReadFile(p.stateFile()); err != nil || !strings.Contains(string(state), "active: true") {
		p.t.Errorf("while a tool runs the state file has %q, %v", state, err)
	}
	return call.LoopID
}

// checkStopped looks at what a stopped loop says and keeps.
func (p *program) checkStopped(exit int, kept bool) {
	p.t.Helper()
	_, err := os.Stat(p.stateFile())
	if (err == nil) != kept {
		p.t.Errorf("state file: %v; want it kept: %v", err, kept)
	}
	if exit == exitCancelled {
		want := "cancelled"
		if kept {
			want = "interrupted"
		}
		if got := p.end().StopReason; got != want {
			p.t.Errorf("stop reason %q, want %q", got, want)
		}
	}
}

// wordOnly maps what a shell would take for something else to a dash.
func wordOnly(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
		return r
	}
	return '-'
}

// TestAStopOfOursIsNoSilence stops the loop's process for longer than an
// agent may be silent. The agent went on meanwhile, and nobody could hear it.
func TestAStopOfOursIsNoSilence(t *testing.T) {
	t.Parallel()
	const idle = 20 * time.Second // more than a run's end takes beside anything
	p := prepare(t, pi, fakemodel.Script{Turns: []fakemodel.Turn{does(pi.bash(untilFile("go"))), says("<promise>DONE</promise>")}})
	begun := time.Now()
	p.start("--max-iterations", "1", "--completion-promise", "DONE", prompt)
	p.await("the tool", hasTool)
	// From here on, when the agent's start is over, however long that took. But for the stop, the
	// run is over long before its time limit.
	limit := (time.Since(begun) + idle).Round(time.Second)
	must.OK(t, p.ralphCommand("update", "--idle-timeout", idle.String(), "--max-time", limit.String()))
	driver := p.driver()
	signal(t, syscall.SIGSTOP, driver)
	must.OK(t, os.WriteFile(filepath.Join(p.box.Dir, "go"), nil, 0o600))
	time.Sleep(idle + 2*time.Second) // the stop itself
	signal(t, syscall.SIGCONT, driver)
	if exit, got := p.wait(), p.outcomes(); exit != exitDone || !slices.Equal(got, []string{"ok"}) {
		t.Errorf("exit %d, outcomes %q", exit, got)
	}
	proctest.CheckNone(t, goneWithin, p.mark)
}
