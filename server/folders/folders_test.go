package folders

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/server/session"
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
		if err := os.Mkdir(filepath.Join(f.Path, ".pi"), 0o700); err != nil {
			t.Fatal(err)
		}
		for range 100 { // long enough for the other look to have begun
			if err := os.WriteFile(filepath.Join(f.Path, ".pi/new"), []byte("---\nmax_iterations: 3\n---\nBuild it\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Rename(filepath.Join(f.Path, ".pi/new"), filepath.Join(f.Path, ".pi/ralph-loop.local.md")); err != nil {
			t.Fatal(err)
		}
	})
	if <-seen == nil {
		t.Error("the later look is of before")
	}
}
