package server

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

func isAlone(l wire.LoopStatus) bool {
	return l.Detached && !l.Owned && l.State == "running" && !slices.Contains(l.Can, wire.CanDetach)
}

// A loop that is detached goes on without its editor, which is told of it as before, and ends it.
func TestADetachedLoopIsStillTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	started := result[wire.StartResult](c, c.Command(wire.CommandStart, map[string]any{"prompt": "Build X", "backend": agentThat(t, "waits"), "maxIterations": 1000}))
	c.status(dir, func(l wire.LoopStatus) bool {
		return l.Owned && l.State == "running" && slices.Contains(l.Can, wire.CanDetach)
	})
	for range 2 {
		if r := result[wire.LoopResult](c, c.Command(wire.CommandDetach, wire.LoopParams{})); r.Text != wire.DetachedText {
			t.Errorf("%+v", r)
		}
	}
	c.status(dir, isAlone)
	must.Write(t, filepath.Join(dir, "go"), "")
	c.Hears("ralph/update", `"iteration":2`)
	os.Remove(filepath.Join(dir, "go"))
	c.Must(c.Command(wire.CommandCancel, wire.LoopParams{LoopID: started.LoopID}))
	c.status(dir, inState("ended"))
}

// An editor that goes leaves a loop that is to be kept: the next one meets it.
func TestAKeptLoopOutlivesItsEditor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := dial(t, optedIn, dir)
	started := result[wire.StartResult](first, first.Command(wire.CommandStart, map[string]any{"prompt": "Build X", "backend": agentThat(t, "waits"), "onClose": "keep"}))
	first.status(dir, inState("running"))
	first.hangUp()
	second := dial(t, optedIn, dir)
	if l := second.status(dir, isAlone); l.LoopID != started.LoopID || l.Iteration != 1 {
		t.Errorf("%+v", l)
	}
	second.Must(second.Command(wire.CommandCancel, wire.LoopParams{LoopID: started.LoopID}))
}

// An editor whose window is reloaded, or whose sidecar was killed, has its loop again, which doesn't notice: the same
// iteration goes on, and what was told meanwhile is there to be read.
func TestAReloadedEditorHasItsLoopAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := dialWith(t, Options{Returns: time.Minute}, optedIn, dir)
	started := result[wire.StartResult](first, first.Command(wire.CommandStart, map[string]any{"prompt": "Build X", "backend": agentThat(t, "waits"), "maxIterations": 1}))
	first.status(dir, inState("running"))
	first.hangUp()
	second := dial(t, optedIn, dir)
	l := second.status(dir, func(l wire.LoopStatus) bool { return l.Owned })
	if l.LoopID != started.LoopID || l.Iteration != 1 || l.State != "running" {
		t.Errorf("%+v", l)
	}
	must.Write(t, filepath.Join(dir, "go"), "")
	second.status(dir, inState("ended"))
	second.Hears("ralph/update", `"_ralph/end"`)
	updates, _ := readAll(t, second, wire.ReadParams{LoopParams: wire.LoopParams{LoopID: started.LoopID}})
	if first := string(updates[0]); len(updates) < 5 {
		t.Errorf("the log has %d updates, and begins with %s", len(updates), first)
	}
}

// The loop of an editor that doesn't come back is interrupted.
func TestAnEditorThatDoesNotComeBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := dialWith(t, Options{Returns: time.Millisecond}, optedIn, dir)
	first.Must(first.Command(wire.CommandStart, map[string]any{"prompt": "Build X", "backend": agentThat(t, "waits")}))
	first.status(dir, inState("running"))
	first.hangUp()
	proctest.Until(t, "it is interrupted", func() bool {
		now, err := loop.FolderStatus(dir)
		return err == nil && now.State == loop.StateInterrupted
	})
}

// Another window of the editor owns the loop, too: the loop ends with the last of them.
func TestALoopEndsWithTheLastOfItsWindows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, second := dial(t, optedIn, dir), dial(t, optedIn, dir)
	first.Must(first.Command(wire.CommandStart, map[string]any{"prompt": "Build X", "backend": agentThat(t, "waits")}))
	second.status(dir, func(l wire.LoopStatus) bool { return l.Owned && l.State == "running" })
	first.hangUp()
	if r := result[wire.LoopResult](second, second.Command(wire.CommandPause, wire.LoopParams{})); r.State != "running" {
		t.Errorf("%+v", r)
	}
	second.hangUp()
	proctest.Until(t, "it is interrupted", func() bool {
		now, err := loop.FolderStatus(dir)
		return err == nil && now.Owner == nil
	})
}

func TestASecondServerSeesTheLoopAndTakesItOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, second := dial(t, optedIn, dir), dial(t, optedIn, dir)
	agent := agentThat(t, "never")
	started := result[wire.StartResult](first, first.Command(wire.CommandStart, wire.StartParams{Prompt: "x", Choices: wire.Choices{Backend: agent}}))
	seen := second.status(dir, inState("running"))
	if seen.LoopID != started.LoopID {
		t.Errorf("got %+v", seen)
	}
	if m := second.Command(wire.CommandStart, wire.StartParams{Prompt: "y", Choices: wire.Choices{Backend: agent}}); reason(t, m) != wire.ReasonAlreadyRunning {
		t.Errorf("got %+v", m.Error)
	}
	second.Must(second.Command(wire.CommandSteer, wire.SteerParams{Text: "from the other one"}))
	first.Hears("ralph/update", "queued")
	first.Must(first.Command(wire.CommandCancel, wire.CancelParams{When: wire.WhenInterrupt}))
	first.hangUp()
	interrupted := second.status(dir, inState("interrupted"))
	if interrupted.Iteration != 1 {
		t.Errorf("got %+v", interrupted)
	}
	resumed := result[wire.LoopResult](second, second.Command(wire.CommandResume, map[string]any{"folder": wire.FileURI(dir)}))
	if resumed.LoopID != started.LoopID {
		t.Errorf("resumed %+v", resumed)
	}
	if got := second.status(dir, inState("running")); !got.Owned || got.Iteration != 1 {
		t.Errorf("got %+v", got)
	}
}
