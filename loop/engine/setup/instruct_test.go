package setup

import (
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop"
)

func TestDryRunTellsAndDoesNothing(t *testing.T) {
	b, _ := backends.Lookup("claude")
	b.Command = "/bin/true"
	cfg := Config{Folder: t.TempDir(), Prompt: "Build it", Backend: b, Promise: "DONE", Model: "m", Limits: loop.Limits{MaxCostUSD: 2.5}, Args: []string{"--x"}}
	argv, prompt, err := cfg.DryRun()
	if err != nil || prompt != "Build it" {
		t.Fatalf("%q, %v", prompt, err)
	}
	line := strings.Join(argv, " ")
	for _, want := range []string{"/bin/true -p ", "<promise>DONE</promise>", "--model m", "--max-budget-usd 2.5", " --x"} {
		if !strings.Contains(line, want) {
			t.Errorf("no %q in %s", want, line)
		}
	}
}
