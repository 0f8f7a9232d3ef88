package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/walltest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// A loop that wants walls starts nothing without them, and touches nothing.
func TestWithoutItsWallsALoopDoesNotStart(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("PATH", t.TempDir())
	_, err := drive(setup.Config{Folder: folder, Prompt: "x", Storage: setup.Storage{History: history.Options{Folder: t.TempDir()}},
		Limits: limits.Default(), Values: settings.Values{Instruct: new(false)},
		Sandbox: sandbox.Spec{Mode: sandbox.Workspace},
		Backend: backends.Custom("/bin/sh", []string{"-c", "touch ran"}, backends.PromptStdin, decode.FormatText)}, setup.Host{}, &timer{})
	if refused := (*sandbox.Error)(nil); !errors.As(err, &refused) {
		t.Errorf("got %v", err)
	}
	for _, name := range []string{"ran", ".pi/ralph-loop.local.md", ".vscode"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
}

func TestTheAgentOfALoopIsBehindItsWalls(t *testing.T) {
	walltest.Need(t)
	home, folder := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	l, err := drive(setup.Config{Folder: folder, Prompt: "x", Storage: setup.Storage{History: history.Options{Folder: t.TempDir()}},
		Limits: limits.Default(), Values: settings.Values{Instruct: new(false)},
		Sandbox: sandbox.Spec{Mode: sandbox.Workspace},
		Backend: backends.Custom("/bin/sh", []string{"-c", "touch in; touch ~/out; touch .pi/ralph-loop.local.md; echo LOOP_COMPLETE"}, backends.PromptStdin, decode.FormatText)}, setup.Host{}, &timer{})
	must.OK(t, err)
	if end := l.Wait(); end.Reason != loop.StopPromise {
		t.Errorf("%+v", end)
	}
	if _, err := os.Stat(filepath.Join(folder, "in")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(home, "out")); err == nil {
		t.Error("it wrote into the home folder")
	}
	if _, err := os.Stat(filepath.Join(folder, ".vscode")); err == nil {
		t.Error("what was made to mount on is left")
	}
}

// The session file has the question, and the agent may read that.
func TestAWriteShowsNothingThatTheWallsHide(t *testing.T) {
	walltest.Need(t)
	dir := paths.Real(t.TempDir())
	put(t, filepath.Join(dir, ".env"), "secret", filepath.Join(dir, "keys/a"), "secret", filepath.Join(dir, "other"), "old")
	must.OK(t, os.Symlink(".env", filepath.Join(dir, "link")))
	l := bare(func(l *Loop) {
		l.engine.dir, l.engine.cfg = dir, setup.Config{Folder: dir, Sandbox: sandbox.Spec{Mode: sandbox.Workspace, Hide: []string{".env", "keys"}}}
	})
	must.OK(t, l.engine.runs.startSandbox())
	defer l.engine.walls.Close()
	shows := func(name, content string) string {
		input := []byte(ask.JSON(map[string]string{"file_path": name, "content": content}))
		return l.engine.questions.openPending().Reader.Question(stream.Question{Method: "can_use_tool", Tool: "Write", Message: name, Input: input}).Detail
	}
	for _, name := range []string{".env", "keys/a", "link"} {
		if got := shows(name, "new"); got != "--- "+name+" (hidden by the sandbox, so it isn't compared)\n+++ "+name+"\n+new" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := shows("other", "new"); !strings.Contains(got, "-old") {
		t.Errorf("%s", got)
	}
}
