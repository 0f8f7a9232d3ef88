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
