package folders

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/filelock"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/clienttest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/keeper/client"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/server/feed"
	"github.com/ralph-lsp/ralph-lsp/server/permission"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// What a loop leaves when the editor goes is no question to that editor.
func TestNobodyIsAskedWhenTheEditorLeaves(t *testing.T) {
	w := New(&session.Session{Ctx: t.Context()}, nil)
	left := &loop.Status{}
	f := &Folder{workspace: w, Path: "/p", seen: left}
	w.folders[f.Path] = f
	if f.AskOnce(left) == nil {
		t.Error("an open editor isn't asked")
	}
	clear(w.asked)
	w.Close()
	if f.AskOnce(left) != nil {
		t.Error("it is asked all the same")
	}
}

// An editor hears of a loop's end before the loop is out of its folder.
func TestALoopThatHasEndedIsPastAtOnce(t *testing.T) {
	w := New(&session.Session{Ctx: t.Context()}, nil)
	f := &Folder{workspace: w, Path: "/p", seen: &loop.Status{State: loop.StateRunning, SessionFile: "s"}}
	w.folders[f.Path] = f
	if got := w.RunningSession("/p"); got != "s" {
		t.Errorf("a running loop's is %q", got)
	}
	f.seen.State = loop.StateEnded
	if got := w.RunningSession("/p"); got != "" {
		t.Errorf("an ended loop runs: %q", got)
	}
}

// A look that has to wait for another one sees what came meanwhile: it is noted last.
func TestALookIsNotedBeforeTheNextBegins(t *testing.T) {
	w := New(&session.Session{Ctx: t.Context()}, nil)
	f := &Folder{workspace: w, Path: t.TempDir()}
	seen := make(chan *loop.Status)
	f.look(func(found *loop.Status) {
		if found != nil {
			t.Errorf("sees %+v", found)
		}
		go f.look(func(found *loop.Status) { seen <- found })
		must.OK(t, os.Mkdir(filepath.Join(f.Path, ".pi"), 0o700))
		for range 100 { // long enough for the other look to have begun
			must.OK(t, os.WriteFile(filepath.Join(f.Path, ".pi/new"), []byte("---\nmax_iterations: 3\n---\nBuild it\n"), 0o600))
		}
		must.OK(t, os.Rename(filepath.Join(f.Path, ".pi/new"), filepath.Join(f.Path, ".pi/ralph-loop.local.md")))
	})
	if <-seen == nil {
		t.Error("the later look is of before")
	}
}

// What was heard last of a loop whose process was killed says that it runs.
func TestAKilledLoopThatIsDiscardedRunsNoMore(t *testing.T) {
	w := New(&session.Session{Ctx: t.Context()}, nil)
	f := &Folder{workspace: w, Path: t.TempDir(), last: &Managed{Window: &client.Connection{}}}
	if now, isThere := f.now(); !isThere || now.State != loop.StateEnded {
		t.Errorf("it is %q, %t", now.State, isThere)
	}
}

// documents are those of an editor that has none open, which lets a look go on when a loop was met.
type documents struct {
	session.OpenDocuments
	met chan struct{}
}

func (d documents) Republish(string) { <-d.met }

// lockAsAnother locks a folder as a process does that serves no windows.
func lockAsAnother(t *testing.T, file *loopstate.File) *os.File {
	t.Helper()
	lock, err := file.Lock(loopstate.Owner{LoopID: "l1", Standing: loopstate.Standing{Control: "/nobody"}})
	must.OK(t, err)
	path, kept := filepath.Join(file.Folder(), ".pi", "ralph-loop.local.lock"), lock.RecordPath()
	record, err := os.ReadFile(kept)
	must.OK(t, errors.Join(err, lock.Release()))
	for _, path := range []string{path, kept} {
		must.OK(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, record, 0o600)))
	}
	open, err := os.OpenFile(path, os.O_RDWR, 0)
	must.OK(t, err)
	if locked, err := filelock.Try(open, true); !locked {
		t.Fatal(err)
	}
	return open
}

// The connection with a process that is killed ends before its lock is free, and nothing tells of that moment.
func TestALoopWhoseLockIsHeldAtItsEndIsFoundLeft(t *testing.T) {
	t.Setenv(paths.EnvState, t.TempDir())
	e := session.New(&clienttest.Editor{}, slog.New(slog.DiscardHandler))
	e.Status = feed.NewStatus(e.Editor, func() ([]wire.LoopStatus, string) { return nil, "" })
	met := make(chan struct{})
	e.Docs = documents{met: met}
	w := New(e, permission.New(e))
	left := make(chan string, 1)
	w.Left = func(_ *Folder, now *loop.Status) { left <- now.LoopID }
	ours := &Managed{Window: &client.Connection{}}
	var once sync.Once
	w.Meet = func(found Found) {
		defer w.Work.Done()
		isFirst := false
		once.Do(func() { isFirst = true })
		if isFirst {
			found.Runs(ours)
			close(met)
			return
		}
		found.Again()
		found.GaveUp()
		found.Look()
	}
	dir := t.TempDir()
	file, err := loopstate.Open(dir)
	must.OK(t, err)
	lock := lockAsAnother(t, file)
	must.OK(t, file.Create(loopstate.State{LoopID: "l1", Prompt: "Build it", StartedAt: time.Now()}))
	w.ChangeFolders([]string{dir}, nil)
	<-met
	f := w.Known(dir)
	proctest.Until(t, "the watch waits for changes of files", func() bool { return len(f.noted) == 0 })
	f.Ended(ours)
	f.Look()
	lock.Close() // as a process that is killed: the file stays
	proctest.Until(t, "the loop is found left", func() bool {
		select {
		case id := <-left:
			return id == "l1"
		default:
			return false
		}
	})
	e.Leave()
	w.Work.Wait()
}
