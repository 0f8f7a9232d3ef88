package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/walltest"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// Whoever wants walls gets none of less than that, and learns what is missing.
func TestWithoutWallsNothingStartsThatWantsThem(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	request := map[string]any{"prompt": "x", "backend": agentThat(t, "never"), "sandbox": "workspace"}
	got := c.dryRun(request)
	if len(got.Problems) != 1 || got.Problems[0].Reason != wire.ReasonNoSandbox || got.Problems[0].Class != wire.ClassError || got.Problems[0].Offers[0].Command != wire.CommandDoctor ||
		!strings.Contains(got.Problems[0].Text, "bubblewrap is not installed; install it") {
		t.Errorf("the dry run: %+v", got.Problems)
	}
	if row := rowOf(got, "Walls"); !strings.HasPrefix(row, "workspace, by bubblewrap") {
		t.Errorf("the row: %q", row)
	}
	delete(request, "dryRun")
	if m := c.Command(wire.CommandStart, request); reason(t, m) != wire.ReasonNoSandbox || !strings.Contains(string(m.Error.Data), "apt install bubblewrap") {
		t.Errorf("the start: %+v", m.Error)
	}
	if m := c.Command(wire.CommandSandbox, map[string]any{"mode": "workspace"}); reason(t, m) != wire.ReasonNoSandbox {
		t.Errorf("the command: %+v", m.Error)
	}
	for _, command := range []string{wire.CommandStart, wire.CommandResume} {
		if m := c.Command(command, map[string]any{"sandbox": "none"}); m.Error == nil || m.Error.Message != `sandbox is "none"; write one of off, workspace` {
			t.Errorf("nonsense: %+v", m.Error)
		}
	}
	if files := filesBelow(t, dir); len(files) != 1 {
		t.Errorf("the folder has %q", files)
	}
}

// Walls are offered once in a user's life, and what is chosen counts from the next start on.
func TestWallsAreOfferedOnce(t *testing.T) {
	walltest.Need(t)
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	dir := t.TempDir()
	request := map[string]any{"prompt": "x", "backend": agentThat(t, "promises"), "completionPromise": "DONE"}
	run := func(capabilities string) *dialled {
		c := dial(t, capabilities, dir)
		c.dryRun(request)
		delete(request, "dryRun")
		c.Must(c.Command(wire.CommandStart, request))
		c.status(dir, func(l wire.LoopStatus) bool { return l.State == "ended" })
		return c
	}
	const offer, command = "a sandbox keeps it in the loop's folder", `"title":"Sandbox My Loops","command":"ralph.sandbox","arguments":[{"mode":"workspace"}]`
	first := run(optedIn)
	first.Hears("ralph/update", offer)
	first.Hears("ralph/update", command)
	second := run(optedIn)
	for _, m := range second.Heard() {
		if strings.Contains(string(m.Params), offer) {
			t.Errorf("offered again: %s", m.Params)
		}
	}
	if got := result[answers.SandboxResult](second, second.Command(wire.CommandSandbox, map[string]any{"mode": "workspace"})); !strings.Contains(got.Text, "your loops are sandboxed from their next start on") {
		t.Errorf("got %+v", got)
	}
	if text, err := os.ReadFile(filepath.Join(home, "ralph-lsp", "config.toml")); string(text) != "[sandbox]\nmode = \"workspace\"\n" {
		t.Errorf("the file says %q, %v", text, err)
	}
	if row := rowOf(second.dryRun(request), "Walls"); !strings.HasSuffix(row, "(from your config.toml)") {
		t.Errorf("the next start: %q", row)
	}
}

func TestAPlainClientIsOfferedWalls(t *testing.T) {
	walltest.Need(t)
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	c := dial(t, plain, t.TempDir())
	c.Must(c.Command(wire.CommandStart, map[string]any{"prompt": "x", "backend": agentThat(t, "never")}))
	c.Hears("window/showMessageRequest", `"title":"Leave it"},{"title":"Sandbox My Loops"}`)
	c.Must(c.Command(wire.CommandCancel, struct{}{}))
}
