package agents

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func TestSandboxKnowsNothingOfItsUser(t *testing.T) {
	for _, name := range []string{"CLAUDECODE", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN", "PI_CODING_AGENT_DIR", "OPENAI_API_KEY", "XDG_CONFIG_HOME"} {
		t.Setenv(name, "secret")
	}
	set := &Set{dir: t.TempDir(), node: Pin{Name: "node", Version: "1"}}
	box := NewSandbox(t, set, "http://127.0.0.1:1", Pi)
	cmd := box.Command(t.Context(), "no-such-program")
	if joined := strings.Join(cmd.Env, "\n"); strings.Contains(joined, "secret") {
		t.Errorf("the environment leaks: %s", joined)
	}
	for _, want := range []string{"HOME=" + box.Home, "TMPDIR=" + box.Tmp, "ANTHROPIC_BASE_URL=http://127.0.0.1:1"} {
		if !slices.Contains(cmd.Env, want) {
			t.Errorf("no %s in %q", want, cmd.Env)
		}
	}
	if cmd.Dir != box.Dir || cmd.Path != "no-such-program" {
		t.Errorf("runs %s in %s", cmd.Path, cmd.Dir)
	}
	models, err := os.ReadFile(filepath.Join(box.Home, ".pi", "agent", "models.json"))
	if err != nil || !strings.Contains(string(models), `"baseUrl":"http://127.0.0.1:1"`) {
		t.Errorf("models.json: %v %s", err, models)
	}
}

func TestSandboxFindsItsAgentsFirst(t *testing.T) {
	set := &Set{dir: t.TempDir(), node: Pin{Name: "node", Version: "1"}}
	for _, p := range []Pin{Pi, Pi073} {
		must.OK(t, layOut(filepath.Join(set.dir, p.folder()), p.Package, p.Version, p.Version))
	}
	box := NewSandbox(t, set, "http://127.0.0.1:1", Pi073)
	if got, want := box.Command(t.Context(), "pi").Path, filepath.Join(set.BinDir(Pi073), exe("pi")); got != want {
		t.Errorf("pi is %s, want %s", got, want)
	}
	out, err := box.Command(t.Context(), "pi").Output()
	if err != nil || string(out) != Pi073.Version {
		t.Errorf("pi says %q, %v", out, err)
	}
}
