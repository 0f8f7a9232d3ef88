package server

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

func TestAgentsToChoose(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for name, script := range map[string]string{"pi": "echo 0.87.1", "claude": "echo broken >&2; exit 3", "mine": "exit 1"} {
		must.OK(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	}
	must.Write(t, filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "ralph-lsp", "config.toml"), "[backends.mine]\ncommand = \"mine\"\n[backends.gone]\ncommand = \"gone\"\n[backends.\"acp:pi\"]\nmode = \"off\"\n")
	dir := configured(t, "[backends.theirs]\ncommand = \"./theirs\"\n")
	c := dial(t, plain, dir)
	agents := result[answers.AgentsResult](c, c.Command(wire.CommandAgents, struct{}{})).Agents
	known := map[string]answers.AgentInfo{}
	for i, a := range agents {
		known[a.Name] = a
		if i > 0 && a.Installed && !agents[i-1].Installed {
			t.Errorf("%s stands behind %s", a.Name, agents[i-1].Name)
		}
	}
	if a := known["pi"]; a.Version != "0.87.1" || !a.Installed || !a.Default || !a.TakesModel || a.Text != "pi 0.87.1" || a.Class != wire.ClassOK {
		t.Errorf("pi: %+v", a)
	}
	if a := known["claude"]; !a.Installed || a.Default || a.Class != wire.ClassWarning || a.Text != "claude doesn't work here: claude --version exited with code 3: broken" {
		t.Errorf("claude: %+v", a)
	}
	if a := known["codex"]; a.Installed || a.Install != "npm install -g @openai/codex" || a.Text != "codex is not installed: npm install -g @openai/codex" || a.Class != wire.ClassInfo {
		t.Errorf("codex: %+v", a)
	}
	if a := known["mine"]; !a.Installed || a.Path != filepath.Join(bin, "mine") || a.Install != "" {
		t.Errorf("mine: %+v", a)
	}
	if a := known["gone"]; a.Installed || a.Text != "gone is not installed" {
		t.Errorf("gone: %+v", a)
	}
	if a := known["acp:pi"]; a.Installed || a.Text != "acp:pi is not installed: npm install -g pi-acp" {
		t.Errorf("acp:pi: %+v", a)
	}
	if a, ok := known["theirs"]; ok {
		t.Errorf("a file that isn't trusted names %+v", a)
	}
	c.Hears("window/showMessage", "pi 0.87.1")
}
