package loop

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"ralph-lsp/backends"
	"ralph-lsp/history"
	"ralph-lsp/internal/limits"
	"ralph-lsp/internal/walltest"
	"ralph-lsp/sandbox"
	"ralph-lsp/stream"
)

// A loop that wants walls starts nothing without them, and touches nothing.
func TestWithoutItsWallsALoopDoesNotStart(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("PATH", t.TempDir())
	_, err := Start(Config{Folder: folder, Prompt: "x", History: history.Options{Folder: t.TempDir()}, Limits: limits.Default(), Quiet: true,
		Sandbox: sandbox.Spec{Mode: sandbox.Workspace},
		Backend: backends.Custom("/bin/sh", []string{"-c", "touch ran"}, backends.PromptStdin, stream.FormatText)}, &timer{})
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
	l, err := Start(Config{Folder: folder, Prompt: "x", History: history.Options{Folder: t.TempDir()}, Limits: limits.Default(), Quiet: true,
		Sandbox: sandbox.Spec{Mode: sandbox.Workspace},
		Backend: backends.Custom("/bin/sh", []string{"-c", "touch in; touch ~/out; touch .pi/ralph-loop.local.md; echo LOOP_COMPLETE"}, backends.PromptStdin, stream.FormatText)}, &timer{})
	if err != nil {
		t.Fatal(err)
	}
	if end := l.Wait(); end.Reason != StopPromise {
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
