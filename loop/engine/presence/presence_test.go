package presence

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
)

// What others find of a loop, from before it stands to behind its end.
func TestWhatOthersFindOfALoop(t *testing.T) {
	t.Setenv(paths.EnvState, t.TempDir())
	cfg := setup.Config{Folder: t.TempDir(), Continue: true} // of which the state file says the rest
	p, err := Take(&cfg, setup.Host{})
	must.OK(t, err)
	if record := p.Takes("ralph-a"); record == "" {
		t.Error("a reaper can't say that the process hung")
	}
	stands := setup.Standing{IsLive: true, Status: loop.Status{LoopID: "ralph-a", Title: "Build it", Iteration: 1}}
	p.Stands(stands)
	dir, err := registry.Dir(paths.Real(cfg.Folder), "ralph-a")
	if err == nil {
		err = os.MkdirAll(filepath.Join(dir, registry.SocketName, "in the way"), 0o700)
	}
	must.OK(t, err)
	if deaf := p.Opens(func(int, loop.Request) loop.Reply { return loop.Reply{} }); deaf == "" {
		t.Error("it has a socket")
	}
	stands.Status.Title, stands.Status.Iteration = "Build more", 2
	p.Stands(stands)
	if o, held, err := p.File.Owner(); !held || err != nil || o.LoopID != "ralph-a" || !o.Live || o.Deaf == "" || len(o.Status) == 0 {
		t.Errorf("its owner is %+v, %t, %v", o, held, err)
	}
	if err := p.Ends(time.Now(), loop.End{Iterations: 2, Reason: loop.StopMaxIterations}, "goes on"); err != nil {
		t.Error(err)
	}
	p.Leave(nil)
	if _, held, err := p.File.Owner(); held || err != nil {
		t.Errorf("its folder isn't free: %v", err)
	}
	if e, ok := registry.Last(paths.Real(cfg.Folder)); !ok || e.Title != "Build more" || e.Iteration != 2 || e.State != "goes on" || e.End == nil {
		t.Errorf("what stays of it is %+v, %t", e, ok)
	}
}

// A loop whose agent says nothing only grows older, which others count by themselves: nothing is written, and nobody is told.
func TestALoopThatOnlyGrowsOlder(t *testing.T) {
	t.Setenv(paths.EnvState, t.TempDir())
	cfg, told := setup.Config{Folder: t.TempDir(), Continue: true}, 0
	p, err := Take(&cfg, setup.Host{Stood: func() { told++ }})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Free()
	path := p.Takes("ralph-a")
	stands := func(elapsed time.Duration) string {
		now := loop.Status{State: loop.StateRunning, Usage: loop.Usage{Elapsed: elapsed}, Times: loop.Times{IterationStartedAt: time.Unix(1, 0)}}
		p.Stands(setup.Standing{IsAtWork: true, Status: now})
		record, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(record)
	}
	first := stands(time.Hour)
	if second := stands(time.Hour + time.Millisecond); second != first || told != 1 {
		t.Errorf("it was told %d times, and is\n%s, and before\n%s", told, second, first)
	}
	if third := stands(time.Minute); third == first || told != 2 { // its process stood still, say
		t.Errorf("it was told %d times, and is still\n%s", told, third)
	}
}
