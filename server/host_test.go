package server

import (
	"testing"

	"github.com/ralph-lsp/ralph-lsp/wire"
)

// An editor that is an agent itself says so with its settings.
func TestAStartInsideAnAgent(t *testing.T) {
	c := dial(t, optedIn, t.TempDir())
	got := c.dryRun(map[string]any{"prompt": "x", "settings": map[string]any{"host": map[string]any{"backend": "pi", "model": "fake/one"}}})
	if model := rowOf(got, "Model"); model != "fake/one (from your editor's settings)" {
		t.Errorf("model %q in %+v", model, got)
	}
	refused := c.Command(wire.CommandStart, map[string]any{"prompt": "x", "settings": map[string]any{"host": map[string]any{"name": "pi"}}})
	if refused.Error == nil || refused.Error.Message != "unknown key settings.host.name" {
		t.Errorf("an unknown key of the host: %+v", refused.Error)
	}
}
