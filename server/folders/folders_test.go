package folders

import (
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
