package backends

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// install puts the test binary on an otherwise empty PATH under these names.
func install(t *testing.T, names ...string) {
	t.Helper()
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	for _, name := range names {
		must.OK(t, os.Symlink(os.Args[0], filepath.Join(bin, name)))
	}
}

func TestAgentAuto(t *testing.T) {
	t.Setenv("ROLE", "prints its version")
	for _, tt := range []struct {
		name      string
		installed []string // commands
		want      string
	}{
		{"given only pi is installed, when Ralph detects backends, then pi is selected", []string{"pi"}, "pi"},
		{"given both claude and pi are installed, when Ralph detects backends, then claude is selected (higher priority)",
			[]string{"pi", "claude"}, "claude"},
		{"pi is last", []string{"pi", "opencode"}, "opencode"},
		{"kiro is called kiro-cli", []string{"pi", "copilot", "kiro-cli"}, "kiro"},
		{"gemini before codex and amp", []string{"amp", "codex", "gemini"}, "gemini"},
		{"codex before amp and copilot", []string{"copilot", "amp", "codex"}, "codex"},
		{"amp before copilot", []string{"copilot", "amp"}, "amp"},
		{"copilot before opencode", []string{"opencode", "copilot"}, "copilot"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			install(t, tt.installed...)
			b, probe, err := Detect(context.Background())
			if err != nil || b.Name != tt.want || probe.Version != "fake 1.2.3" {
				t.Errorf("%s, %+v, %v", b.Name, probe, err)
			}
		})
	}
}

func TestDetectWaitsForNoneBehindTheFirst(t *testing.T) {
	defer func(limit time.Duration) { probeTimeout = limit }(probeTimeout)
	probeTimeout = time.Hour
	t.Setenv("ROLE", "hangs unless it is claude")
	install(t, "claude", "gemini", "pi")
	if b, _, err := Detect(context.Background()); err != nil || b.Name != "claude" {
		t.Errorf("%s, %v", b.Name, err)
	}
}

func TestDetectAsksAProgramOnce(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	t.Setenv("ASKED", log)
	t.Setenv("ROLE", "prints its version")
	asked := func() int {
		data := must.Read(t, log)
		return strings.Count(string(data), "\n")
	}
	install(t, "pi")
	for range 3 {
		if b, probe, err := Detect(context.Background()); err != nil || b.Name != "pi" || probe.Version != "fake 1.2.3" {
			t.Fatal(b.Name, probe, err)
		}
	}
	if asked() != 1 {
		t.Errorf("asked %d times", asked())
	}
	install(t, "pi") // another pi
	if _, _, err := Detect(context.Background()); err != nil || asked() != 2 {
		t.Errorf("asked %d times with another program, %v", asked(), err)
	}
	ProbeAll(context.Background())
	if asked() != 3 {
		t.Errorf("asked %d times: whoever wants to know it exactly got an old answer", asked())
	}
}

func TestDetectForgetsWhatFailed(t *testing.T) {
	install(t, "pi")
	t.Setenv("ROLE", "fails")
	if _, _, err := Detect(context.Background()); err == nil {
		t.Fatal("a broken pi was taken")
	}
	t.Setenv("ROLE", "prints its version")
	if b, _, err := Detect(context.Background()); err != nil || b.Name != "pi" {
		t.Errorf("%s, %v", b.Name, err)
	}
}

// An agent that is there and doesn't work isn't told as missing: the user would
// install it again.
func TestDetectTellsWhatKeepsAnAgentFromWorking(t *testing.T) {
	install(t, "pi", "opencode")
	t.Setenv("ROLE", "fails")
	_, _, err := Detect(context.Background())
	if missing := new(*NotFoundError); err == nil || errors.As(err, missing) {
		t.Fatalf("got %v", err)
	}
	if want := "no agent works here: opencode --version exited with code "; !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %q, want %q...", err, want)
	}
}

func TestDetectNothing(t *testing.T) {
	install(t)
	_, _, err := Detect(context.Background())
	var missing *NotFoundError
	if !errors.As(err, &missing) || len(missing.Looked) != len(Detected()) {
		t.Fatal(err)
	}
	if missing.Path != os.Getenv("PATH") || err.Error() != "no agent is installed" {
		t.Errorf("got %q, searched %s", err, missing.Path)
	}
	for i, b := range missing.Looked {
		if b.Command != builtin[i].Command || b.Install == "" {
			t.Errorf("looked for %+v", b)
		}
	}
}
