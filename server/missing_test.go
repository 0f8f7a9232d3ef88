package server

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/wire"
)

func TestWithoutAnAgentTheErrorIsOneReadableLine(t *testing.T) {
	t.Setenv("PATH", strings.Repeat("/nowhere:", 60))
	c := dial(t, optedIn, t.TempDir())
	for backend, want := range map[string]string{
		"":   "no agent is installed: the doctor says how to install one",
		"pi": "pi is not installed: npm install -g @earendil-works/pi-coding-agent (needs node 22.19 or newer)",
	} {
		m := c.Command(wire.CommandStart, wire.StartParams{Prompt: "x", Choices: wire.Choices{Backend: backend}})
		data := dataOf[struct {
			Reason, Path string
			Checked      []string
			Install      map[string]string
		}](t, m)
		if m.Error.Message != want || data.Reason != wire.ReasonBackendNotFound {
			t.Errorf("%q: %q, %s", backend, m.Error.Message, data.Reason)
		}
		if !strings.HasPrefix(data.Path, "/nowhere:/nowhere") || len(data.Checked) != len(data.Install) || !slices.Contains(data.Checked, "pi") || !strings.HasPrefix(data.Install["pi"], "npm install") {
			t.Errorf("%q: %+v", backend, data)
		}
	}
}
