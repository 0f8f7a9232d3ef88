package testhome

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func TestUse(t *testing.T) {
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "AppData", "XDG_CACHE_HOME", "LocalAppData", "PI_CODING_AGENT_DIR"} {
		t.Setenv(name, os.Getenv(name)) // as it was, when the test ends
		if os.Getenv(name) == "" {
			os.Unsetenv(name)
		}
	}
	t.Setenv("GIT_DIR", "/nowhere")
	before, err := exec.Command("go", "env", "GOMODCACHE").Output()
	must.OK(t, err)
	remove, err := Use()
	must.OK(t, err)
	home, err := os.UserHomeDir()
	if err != nil || !strings.Contains(home, "ralph-home-") {
		t.Errorf("home is %s, %v", home, err)
	}
	if out, err := exec.Command("git", "init", "-q", filepath.Join(home, "repository")).CombinedOutput(); err != nil {
		t.Errorf("git in a hook of git's: %v\n%s", err, out)
	}
	if after, err := exec.Command("go", "env", "GOMODCACHE").Output(); err != nil || string(after) != string(before) {
		t.Errorf("the module cache moved from %s to %s", before, after)
	}
	if mode, err := exec.Command("go", "env", "GOTELEMETRY").Output(); err != nil || string(mode) != "off\n" {
		t.Errorf("go starts a process that outlives it: telemetry is %s, %v", mode, err)
	}
	remove()
	if _, err := os.Stat(home); !os.IsNotExist(err) {
		t.Errorf("%s is left behind", home)
	}
}
