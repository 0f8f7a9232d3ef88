package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// reads is the team in a folder with snapshots, its planner only reading.
func reads(t *testing.T, dir string) func(*setup.Config) {
	snapshots := kept(t, dir)
	return func(c *setup.Config) {
		team(c)
		snapshots(c)
		c.Limits.MaxIterations = 6
		c.Roles.Hats[0].ReadOnly, c.Roles.Hats[0].MayFinish = true, new(true)
	}
}

// acts is a run that does what it does by a tool.
func acts(r run) run {
	r.events = append(r.events, stream.ToolCall{ID: "t1", Name: "bash"})
	return r
}

func contentOf(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data)
}

// What a hat changes that is to read only is undone and told; what others change stays.
func TestAReadOnlyHatChangesNothing(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	put(t, a, "1\n")
	plan, build := acts(writes(t, a, "2\n", b, "new\n")), writes(t, b, "built\n")
	plan.result.Text, build.result.Text = `<event topic="plan.ready">x</event>`, `<event topic="build.done">x</event>`
	r := start(t, reads(t, dir), plan, build, promise)
	r.over(loop.StopPromise, 3)
	if got := contentOf(t, a) + contentOf(t, b); got != "1\nbuilt\n" {
		t.Errorf("the files have %q", got)
	}
	if n := r.log.count("warning: the hat planner is read_only: what it changed is undone: a, b (ralph-lsp redo brings it back)"); n != 1 || r.log.count("warning") != 1 {
		t.Errorf("told %d times\n%s", n, strings.Join(r.log.lines, "\n"))
	}
	if told := r.given(0); !strings.Contains(told, "You only read: change no file") || strings.Contains(r.given(1), "You only read") {
		t.Error(told)
	}
}

// A run that failed has to leave nothing behind, either, and none of it is new.
func TestWhatIsUndoneIsNoProgress(t *testing.T) {
	dir := t.TempDir()
	a := filepath.Join(dir, "a")
	put(t, a, "1\n")
	first, second, failed := acts(writes(t, a, "2\n")), acts(writes(t, a, "3\n")), acts(writes(t, a, "4\n"))
	failed.code = 1
	r := start(t, func(c *setup.Config) { reads(t, dir)(c); c.Roles.Hats[0].MaxRuns, c.Limits.MaxUnchanged = 0, 2 }, first, failed, second)
	r.over(loop.StopNoProgress, 3)
	if got := contentOf(t, a); got != "1\n" {
		t.Errorf("the file has %q", got)
	}
}

// Nothing is taken back of what the user changed while it ran: no tool was at work then
// that can have.
func TestWhatTheUserChangesDuringAReadOnlyRunStays(t *testing.T) {
	dir := t.TempDir()
	a, b, c := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
	put(t, a, "1\n", b, "1\n", c, "1\n")
	first := says("no")
	first.result.ToolCalls = 2
	r := prepare(t, nil, reads(t, dir), first, promise)
	r.agents.runs[0].during = func() {
		spec := r.spec(0)
		hear(spec, stream.ToolCall{ID: "t1", Name: "read"})
		put(t, c, "mine\n")
		gone := os.Remove(b)
		later, earlier := time.Now().Add(10*time.Second), time.Now().Add(-10*time.Second)
		if err := errors.Join(gone, os.Chtimes(c, later, later), os.Chtimes(dir, earlier, earlier)); err != nil {
			t.Error(err)
		}
		hear(spec, stream.ToolResult{ID: "t1"})
		hear(spec, stream.ToolCall{ID: "t2", Name: "bash"})
		put(t, a, "agent\n")
		hear(spec, stream.ToolResult{ID: "t2"})
	}
	must.OK(t, r.begin())
	r.over(loop.StopPromise, 2)
	if got := contentOf(t, a) + contentOf(t, b) + contentOf(t, c); got != "1\nmine\n" {
		t.Errorf("the files have %q", got)
	}
	if !r.log.has("read_only; b, c changed while no tool of its agent was at work, so somebody else may") || !r.log.has("is undone: a (") {
		t.Error(strings.Join(r.log.lines, "\n"))
	}
}

// Where nobody would see what it changes, such a hat doesn't run.
func TestAReadOnlyHatNeedsSnapshots(t *testing.T) {
	dir := t.TempDir()
	r := prepare(t, nil, func(c *setup.Config) { reads(t, dir)(c); c.Storage.Changes.Keep = 0 }, promise)
	if err := r.cfg.Check(); err == nil || !strings.Contains(err.Error(), "the hat planner is read_only") {
		t.Errorf("it may start: %v", err)
	}
	noFolder := filepath.Join(dir, "file")
	put(t, noFolder, "")
	r = start(t, func(c *setup.Config) {
		reads(t, dir)(c)
		c.Storage.Changes = changes.Options{Keep: time.Hour, Dir: noFolder}
	}, promise)
	if end := r.over(loop.StopBackendError, 0); !strings.Contains(end.Error, "the hat planner is read_only, and what it changes could not be undone: ") {
		t.Error(end.Error)
	}
}

// A loop that goes on where a hat that is to read only was killed with it says so, if
// anything changed then or since.
func TestACutOffReadOnlyRunIsTold(t *testing.T) {
	for name, tt := range map[string]struct {
		hat     string
		topic   string
		begun   bool
		changes bool
		told    int
	}{
		"its run was killed":           {"planner", "loop.start", true, true, 1},
		"and nothing changed":          {"planner", "loop.start", true, false, 0},
		"its run had ended":            {"planner", "loop.start", false, true, 0},
		"a run that writes was killed": {"builder", "plan.ready", true, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			testhome.Git(t, dir, "init", "-q") // elsewhere the snapshots of a loop that has ended so are gone
			configure := reads(t, dir)
			put(t, filepath.Join(dir, "a"), "1\n")
			r := start(t, configure, promise)
			r.over(loop.StopPromise, 1)
			if tt.changes {
				put(t, filepath.Join(dir, "b"), "1\n")
			}
			found := loopstate.State{Active: true, Iteration: 2, Prompt: "x", LoopID: r.ID(), Values: settings.Values{Given: limits.Given{Promise: new("DONE")}}, AgentChoice: loopstate.AgentChoice{Hat: tt.hat}, Begun: tt.begun, Queue: hats.Queue{Pending: []hats.Topic{{Name: tt.topic}}}}
			r, err := tryStart(t, &found, func(c *setup.Config) {
				configure(c)
				c.Continue, c.Change.MaxIterations = true, new(3)
			}, promise)
			must.OK(t, err)
			r.Wait()
			if got := r.log.count("warning: the hat planner is read_only, and its run was cut off: 1 file changed then or since, and nothing is undone"); got != tt.told || r.log.count("cut off") != tt.told {
				t.Errorf("told %d times, want %d\n%s", got, tt.told, strings.Join(r.log.lines, "\n"))
			}
		})
	}
}
