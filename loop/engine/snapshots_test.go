package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// kept lets a loop make snapshots in a folder.
func kept(t *testing.T, dir string) func(*setup.Config) {
	books := t.TempDir()
	return func(c *setup.Config) {
		c.Folder = dir
		c.Storage.Changes = changes.Options{Keep: time.Hour, MaxFile: 1000, Dir: books}
		c.Limits.MaxIterations = 2
	}
}

// writes is a short run that writes files: pairs of a path and a content.
func writes(t *testing.T, files ...string) run {
	r := says("done")
	r.lasts = time.Millisecond
	r.result.ToolCalls = 1 // else it is paced
	r.during = func() { put(t, files...) }
	return r
}

func put(t *testing.T, files ...string) {
	t.Helper()
	for i := 0; i < len(files); i += 2 {
		if err := os.MkdirAll(filepath.Dir(files[i]), 0o755); err != nil {
			t.Error(err)
		}
		if err := os.WriteFile(files[i], []byte(files[i+1]), 0o644); err != nil {
			t.Error(err)
		}
	}
}

// changesOf lists what the iterations changed: "1: 2 +3 -0".
func (w *watcher) changesOf() (lines []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.ends {
		if e.Changes == nil {
			lines = append(lines, fmt.Sprintf("%d: unknown", e.Iteration))
		} else {
			lines = append(lines, fmt.Sprintf("%d: %d +%d -%d", e.Iteration, e.Changes.Files, e.Changes.Added, e.Changes.Removed))
		}
	}
	return lines
}

func (r *rig) changed(want ...string) {
	r.t.Helper()
	if got := r.log.changesOf(); fmt.Sprint(got) != fmt.Sprint(want) {
		r.t.Errorf("%q, want %q\n%q", got, want, r.log.lines)
	}
}

func TestIterationsTellWhatChanged(t *testing.T) {
	dir := t.TempDir()
	a, big := filepath.Join(dir, "a"), filepath.Join(dir, "big")
	put(t, a, "1\n")
	r := start(t, kept(t, dir),
		writes(t, a, "2\n3\n", filepath.Join(dir, loopstate.Name), "ours", big, string(make([]byte, 2000))), writes(t))
	end := r.over(loop.StopMaxIterations, 2)
	r.changed("1: 1 +2 -1", "2: 0 +0 -0")
	if end.Changes == nil || *end.Changes != (changes.Summary{Files: 1, Added: 2, Removed: 1}) {
		t.Errorf("%+v", end.Changes)
	}
	if n := r.log.count("can't be shown or undone: big (2.0 kB)"); n != 1 {
		t.Errorf("warned of the large file %d times: %q", n, r.log.lines)
	}
}

// What the user does while nobody drives the loop is no iteration's.
func TestALoopThatGoesOnKnowsWhatTheUserDid(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	configure := kept(t, dir)
	r := start(t, configure, writes(t, a, "1\n"), writes(t, a, "2\n"))
	r.over(loop.StopMaxIterations, 2)
	put(t, b, "mine\n")
	found := loopstate.State{Active: true, Iteration: 3, Prompt: "x", LoopID: r.ID()}
	r, err := tryStart(t, &found, func(c *setup.Config) {
		configure(c)
		c.Continue = true
		c.Change.MaxIterations = new(3)
	}, writes(t, a, "3\n"))
	must.OK(t, err)
	if end := r.Wait(); end.Changes == nil || end.Changes.Files != 2 {
		t.Errorf("%+v", end)
	}
	r.changed("3: 1 +1 -1")
}

// hooked is a watcher that does something at events.
type hooked struct {
	*watcher
	at func(loop.Event)
}

func (h hooked) HandleLoop(e loop.Event) {
	h.watcher.HandleLoop(e)
	h.at(e)
}

// An undo that began between two iterations is over before the next agent begins.
func TestAnAgentWaitsForAnUndo(t *testing.T) {
	dir, books := t.TempDir(), ""
	a := filepath.Join(dir, "a")
	put(t, a, "1\n")
	configure := kept(t, dir)
	holds, begun, undone := make(chan struct{}), make(chan struct{}), make(chan struct{})
	second := writes(t)
	second.during = func() {
		select {
		case <-undone:
		default:
			t.Error("an agent works in the middle of an undo")
		}
	}
	r := prepare(t, nil, func(c *setup.Config) { configure(c); books = c.Storage.Changes.Dir }, writes(t, a, "2\n"), second)
	undo := func() {
		defer close(undone)
		s, err := changes.Find(dir, "", changes.Options{Dir: books})
		if err != nil {
			t.Error(err)
			close(holds)
			return
		}
		s.Undoer.MayWrite = func() error {
			close(holds)
			<-begun
			return nil
		}
		if _, err := s.Undoer.Undo(t.Context(), changes.Undo{Iteration: 1}); err != nil {
			t.Error(err)
		}
	}
	r.obs = hooked{r.log, func(e loop.Event) {
		switch e := e.(type) {
		case loop.IterationEnd:
			if e.Iteration == 1 {
				go undo()
				<-holds
			}
		case loop.IterationStart:
			if e.Iteration == 2 {
				close(begun)
			}
		}
	}}
	must.OK(t, r.begin())
	r.over(loop.StopMaxIterations, 2)
	if text, err := os.ReadFile(a); err != nil || string(text) != "1\n" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestALoopWithoutGitSaysSoOnce(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	r := start(t, kept(t, t.TempDir()), writes(t), writes(t))
	end := r.over(loop.StopMaxIterations, 2)
	r.changed("1: unknown", "2: unknown")
	if n := r.log.count("can't be shown or undone: git is not installed"); n != 1 || end.Changes != nil {
		t.Errorf("%d times: %q, %+v", n, r.log.lines, end.Changes)
	}
}

func TestASnapshotThatFailsEndsNoLoop(t *testing.T) {
	dir := t.TempDir()
	configure := kept(t, dir)
	books := ""
	breaks := writes(t)
	breaks.during = func() {
		if err := os.RemoveAll(books); err != nil {
			t.Error(err)
		}
	}
	r := start(t, func(c *setup.Config) { configure(c); books = c.Storage.Changes.Dir }, breaks, writes(t))
	r.over(loop.StopMaxIterations, 2)
	r.changed("1: unknown", "2: unknown")
	if n := r.log.count("warning: what the loop changes can't be shown or undone: "); n != 1 {
		t.Errorf("%d times: %q", n, r.log.lines)
	}
}

// A git that hangs doesn't keep a loop from its end.
func TestAnInterruptedLoopWaitsForNoSnapshot(t *testing.T) {
	bin := t.TempDir()
	put(t, filepath.Join(bin, "git"), "#!/bin/sh\nexec /bin/sleep 1000\n")
	must.OK(t, os.Chmod(filepath.Join(bin, "git"), 0o755))
	t.Setenv("PATH", bin)
	r := start(t, kept(t, t.TempDir()), writes(t))
	r.Interrupt()
	r.over(loop.StopInterrupted, len(r.agents.specs))
	if left := proctest.AwaitNone(patience, "PATH="+bin); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
