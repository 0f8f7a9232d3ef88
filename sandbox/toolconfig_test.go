package sandbox

import (
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// Users read in one place what is kept from agents.
func TestTheDocumentSaysOfEachWhatBecomesOfIt(t *testing.T) {
	page := must.Read(t, "../docs/SANDBOX.md")
	for _, o := range toolConfig {
		if row := "| " + o.by + ": `" + strings.Join(o.names, "`, `") + "` | read-only |"; !strings.Contains(string(page), row) {
			t.Errorf("there is no row %s", row)
		}
	}
}

func TestWhatIsObeyedBelow(t *testing.T) {
	for path, want := range map[string]bool{
		".envrc": true, "a/b/.envrc": true, "a/.vscode": true, "a/.vscode/tasks.json": true, ".claude/settings.local.json": true, "x/.claude/hooks/a": true,
		"all.code-workspace": true, "mise.local.toml": true, ".claude": false, ".claude/agents/a.md": false, "settings.json": false, "envrc": false, "src/mise.go": false,
	} {
		if got := isToolConfig(path); got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
}
