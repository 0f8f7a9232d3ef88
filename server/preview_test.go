package server

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// filesBelow lists a folder, to see that nothing was written into it.
func filesBelow(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		names = append(names, path)
		return err
	})
	must.OK(t, err)
	return names
}

// rowOf is what a dry run says behind a label.
func rowOf(r answers.DryRunResult, label string) string {
	for _, row := range r.Details {
		if row.Label == label {
			return row.Text
		}
	}
	return ""
}

func TestADryRunSaysWhatWillRun(t *testing.T) {
	dir := configured(t, "[limits]\nmax_iterations = 7\n")
	before := filesBelow(t, dir)
	c := dial(t, optedIn, dir)
	got := c.dryRun(map[string]any{"text": "Build X\nand say <promise>DONE</promise> --max-cost 0,5", "backend": agentThat(t, "never"), "until": "make test",
		"settings": map[string]any{"maxDurationMs": 3600000, "args": []string{"--fast"}}})
	for label, want := range map[string]string{
		"Agent": wire.OneLine(agentThat(t, "never")), "Model": "the agent's own choice", "Arguments": "--fast (from your editor's settings)",
		"Permissions": "never may do whatever it does by itself: ralph-lsp doesn't know it",
		"Limits":      "7 iterations (from the folder's ralph.toml) · $0.50 · 1h of running (from your editor's settings) · 10m of silence · 5 failures in a row · 5 iterations without progress · 3 runs of unknown cost",
		"Promise":     "DONE (from the prompt)", "Verified by": "make test, which ends the loop as soon as it passes", "Folder": dir,
		"Prompt": "39 bytes · Build X and say <promise>DONE</promise>",
	} {
		if text := rowOf(got, label); text != want {
			t.Errorf("%s: %q, want %q", label, text, want)
		}
	}
	if want := wire.OneLine(agentThat(t, "never")) + " · at most 7 iterations, $0.50"; got.Text != want || len(got.Problems) != 0 {
		t.Errorf("%q %+v, want %q", got.Text, got.Problems, want)
	}
	if after := filesBelow(t, dir); !slices.Equal(before, after) {
		t.Errorf("the folder has %q, before %q", after, before)
	}
}

func TestADryRunSaysWhatKeepsALoopFromStarting(t *testing.T) {
	dir, home, ran := configured(t, "backend = \"pi\"\n[backends.pi]\ncommand = \"./pi\"\n"), t.TempDir(), filepath.Join(t.TempDir(), "ran")
	t.Setenv("XDG_CONFIG_HOME", home)
	must.OK(t, os.WriteFile(filepath.Join(dir, "pi"), []byte("#!/bin/sh\ntouch "+ran+"\n"), 0o700))
	c := dial(t, plain, dir)
	got := c.dryRun(map[string]any{"prompt": "x"})
	if len(got.Problems) != 1 || got.Problems[0].Reason != wire.ReasonUntrusted || got.Problems[0].Class != wire.ClassWarning ||
		got.Problems[0].Offers[0].Title != "Trust It and Go On" || !strings.Contains(got.Problems[0].Text, `backends.pi.command = "./pi"`) {
		t.Errorf("untrusted: %+v", got.Problems)
	}
	if want := "pi · " + filepath.Join(dir, "pi") + " (from the folder's ralph.toml)"; rowOf(got, "Agent") != want {
		t.Errorf("the agent is %q, want %q", rowOf(got, "Agent"), want)
	}
	c.Hears("window/showMessage", "It can't start: "+filepath.Join(dir, "ralph.toml")+" is not trusted yet")
	if got := c.dryRun(map[string]any{"prompt": " ", "trust": true}); len(got.Problems) != 1 || got.Problems[0].Reason != wire.ReasonEmptyPrompt || got.Problems[0].Class != wire.ClassError {
		t.Errorf("trusted: %+v", got.Problems)
	}
	if names := filesBelow(t, home); len(names) != 1 {
		t.Errorf("dry runs have written %q", names)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a dry run has run what the folder names")
	}
	for _, m := range c.Heard() {
		if m.Method == "window/showMessageRequest" {
			t.Errorf("a dry run has asked %s", m.Params)
		}
	}
}

func TestADryRunWithoutAnAgent(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	got := c.dryRun(map[string]any{"folder": wire.FileURI(dir), "prompt": "x", "maxIterations": 3})
	if len(got.Problems) != 1 || got.Problems[0].Reason != wire.ReasonBackendNotFound || got.Problems[0].Text != "no agent is installed: the doctor says how to install one" {
		t.Fatalf("got %+v", got)
	}
	if doctor := got.Problems[0].Offers[0]; doctor.Command != wire.CommandDoctor {
		t.Errorf("it offers %+v", doctor)
	}
	if *got.Limits.MaxIterations != 3 || got.Text != "at most 3 iterations" || rowOf(got, "Prompt") == "" {
		t.Errorf("got %+v", got)
	}
}

// What a dry run offers starts: it is no dry run itself.
func TestADryRunMeetsALoop(t *testing.T) {
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	agent := agentThat(t, "never")
	first := result[wire.StartResult](c, c.Command(wire.CommandStart, map[string]any{"prompt": "one", "backend": agent}))
	c.status(dir, inState("running"))
	if got := c.dryRun(map[string]any{"prompt": "two", "backend": agent, "replace": true}); len(got.Problems) != 0 {
		t.Errorf("that is replaced: %+v", got.Problems)
	}
	got := c.dryRun(map[string]any{"prompt": "two", "backend": agent})
	if len(got.Problems) != 1 || got.Problems[0].Reason != wire.ReasonAlreadyRunning {
		t.Fatalf("got %+v", got.Problems)
	}
	instead := got.Problems[0].Offers[0]
	argument, err := json.Marshal(instead.Arguments[0])
	must.OK(t, err)
	second := result[wire.StartResult](c, c.Command(instead.Command, json.RawMessage(argument)))
	if second.LoopID == first.LoopID || second.LoopID == "" {
		t.Errorf("%s after %s", second.LoopID, first.LoopID)
	}
	c.Must(c.Command(wire.CommandCancel, struct{}{}))
}

// A check that can't be run keeps a loop from starting, in the preview and in the start.
func TestACheckThatIsNotThereIsRefused(t *testing.T) {
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	start := map[string]any{"prompt": "x", "backend": agentThat(t, "never"), "verify": "nosuchprogram --all"}
	const why = "the check `nosuchprogram --all` can't be run: nosuchprogram is in no folder of PATH; install it, or name another command"
	if got := c.dryRun(start); len(got.Problems) != 1 || !strings.HasPrefix(got.Problems[0].Text, why) || got.Problems[0].Class != wire.ClassError {
		t.Errorf("got %+v", got.Problems)
	}
	start["dryRun"] = false
	if answer := c.Command(wire.CommandStart, start); answer.Error == nil || !strings.HasPrefix(answer.Error.Message, why) {
		t.Errorf("got %+v", answer)
	}
}
