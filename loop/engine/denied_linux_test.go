package engine

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/walltest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// meddler is an agent whose tool writes into the home folder and into its own state file.
const meddler = `
tool() {
	out=$(sh -c "$1" 2>&1 | sed 's/"/\\"/g')
	printf '{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t%s","name":"Bash","input":{"command":"x"}}]}}\n' "$2"
	printf '{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%s","is_error":true,"content":"%s"}]}}\n' "$2" "$out"
}
tool 'touch ~/out' 1
tool 'touch .pi/ralph-loop.local.md' 2
tool 'touch inside && echo fine' 3
tool 'cat gone' 4
printf '{"type":"assistant","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"on it"}]}}\n'
printf '{"type":"result","subtype":"success","is_error":false,"result":"on it","num_turns":1}\n'
`

// What walls refuse is told with its path, once in a loop, and no more than that.
func TestWhatTheWallsRefuseIsTold(t *testing.T) {
	walltest.Need(t)
	home, folder := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	log := &watcher{}
	bounds := limits.Default()
	bounds.MaxIterations = 2
	l, err := drive(setup.Config{Folder: folder, Prompt: "x", Storage: setup.Storage{History: history.Options{Folder: t.TempDir()}},
		Limits: bounds, Values: settings.Values{Instruct: new(false)},
		Sandbox: sandbox.Spec{Mode: sandbox.Workspace},
		Backend: backends.Custom("/bin/sh", []string{"-c", meddler}, backends.PromptStdin, decode.FormatClaude)}, setup.Host{}, log)
	must.OK(t, err)
	if got := l.Status().Sandbox; got != sandbox.Bubblewrap {
		t.Errorf("the status says %q", got)
	}
	if status, err := loop.FolderStatus(folder); err != nil || status.Sandbox != sandbox.Bubblewrap {
		t.Errorf("another process sees %q, %v", status.Sandbox, err)
	}
	if end := l.Wait(); end.Reason != loop.StopMaxIterations {
		t.Fatalf("%+v", end)
	}
	var told []string
	for _, line := range log.lines {
		if strings.Contains(line, "the sandbox refused") {
			told = append(told, line)
		}
	}
	want := []string{
		"the sandbox refused to write " + filepath.Join(home, "out") + " (see write below [sandbox])",
		"the sandbox refused to write " + filepath.Join(folder, loopstate.Name) + " (no agent may, or protect below [sandbox] names it)",
	}
	if !slices.EqualFunc(told, want, strings.Contains) {
		t.Errorf("told %q, want %q", told, want)
	}
	if _, err := os.Stat(filepath.Join(folder, "inside")); err != nil {
		t.Error(err)
	}
}

// With this file, git would take its configuration from where the agent wants, outside the walls, too.
func TestNobodyPointsGitElsewhere(t *testing.T) {
	walltest.Need(t)
	folder, ran := t.TempDir(), filepath.Join(t.TempDir(), "ran")
	t.Setenv("HOME", t.TempDir())
	git := func(args ...string) {
		if out, err := exec.Command("git", append([]string{"-C", folder}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%s", out)
		}
	}
	git("init", "-q")
	script := `cp -r .git evil; printf '[core]\n\tfsmonitor = "touch ` + ran + `; false"\n' >> evil/config; echo ../evil > .git/commondir; echo LOOP_COMPLETE`
	log := &watcher{}
	l, err := drive(setup.Config{Folder: folder, Prompt: "x",
		Storage: setup.Storage{History: history.Options{Folder: t.TempDir()},
			Changes: changes.Options{Keep: time.Hour}}, Limits: limits.Default(), Values: settings.Values{Instruct: new(false)},
		Sandbox: sandbox.Spec{Mode: sandbox.Workspace},
		Backend: backends.Custom("/bin/sh", []string{"-c", script}, backends.PromptStdin, decode.FormatText)}, setup.Host{}, log)
	must.OK(t, err)
	if end := l.Wait(); end.Reason != loop.StopPromise {
		t.Fatalf("%+v", end)
	}
	git("status", "--short")
	if _, err := os.Stat(ran); err == nil {
		t.Error("git has run what the agent wrote")
	}
	if log.count(filepath.Join(folder, ".git", "commondir")+" was made during the run and is removed") != 1 {
		t.Errorf("nobody was told: %q", log.lines)
	}
}
