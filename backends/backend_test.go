package backends

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ralph-lsp/stream"
)

func TestArgumentLists(t *testing.T) {
	for _, tt := range []struct {
		name       string
		backend    Backend
		ours, user []string
		want       string
	}{
		{"pi", pi, nil, nil, "-p --mode json --no-session"},
		{"pi with the user's", pi, nil, []string{"--provider", "anthropic"}, "-p --mode json --no-session --provider anthropic"},
		{"claude", claude, nil, nil, "-p --output-format stream-json --verbose --include-partial-messages --no-session-persistence --permission-mode acceptEdits"},
		{"claude with another mode", claude, []string{"--model", "m"}, []string{"--permission-mode=plan"},
			"-p --output-format stream-json --verbose --include-partial-messages --no-session-persistence --model m --permission-mode=plan"},
		{"claude without permissions", claude, nil, []string{"--dangerously-skip-permissions"},
			"-p --output-format stream-json --verbose --include-partial-messages --no-session-persistence --dangerously-skip-permissions"},
		{"custom", Custom("x", []string{"--headless"}, PromptStdin, stream.FormatText), nil, []string{"more"}, "--headless more"},
	} {
		if got := strings.Join(tt.backend.Argv(tt.ours, tt.user), " "); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

func TestArgvLeavesTheTableAlone(t *testing.T) {
	before := slices.Clone(pi.Args)
	_ = append(pi.Argv(nil, nil), "x")
	if !slices.Equal(pi.Args, before) {
		t.Error("the backend's arguments changed")
	}
}

func TestLookup(t *testing.T) {
	for _, name := range Names() {
		b, err := Lookup(name)
		if err != nil || b.Name != name || b.Install == "" || !b.Prompt.Valid() || !b.Output.Valid() || len(b.Stop) == 0 {
			t.Errorf("%s: %+v, %v", name, b, err)
		}
	}
	for name, near := range map[string]string{"claud": "claude", "PI": "pi", "something": ""} {
		_, err := Lookup(name)
		var unknown *UnknownError
		if !errors.As(err, &unknown) || unknown.Nearest != near {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// install puts the test binary on an otherwise empty PATH under these names.
func install(t *testing.T, names ...string) {
	t.Helper()
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	for _, name := range names {
		if err := os.Symlink(os.Args[0], filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDetect(t *testing.T) {
	t.Setenv("ROLE", "prints its version")
	for _, tt := range []struct {
		installed []string
		want      string
	}{
		{[]string{"pi"}, "pi"},
		{[]string{"pi", "claude"}, "claude"},
	} {
		install(t, tt.installed...)
		b, probe, err := Detect(context.Background())
		if err != nil || b.Name != tt.want || probe.Version != "fake 1.2.3" {
			t.Errorf("%v: %s, %+v, %v", tt.installed, b.Name, probe, err)
		}
	}
}

func TestDetectNothing(t *testing.T) {
	install(t)
	_, _, err := Detect(context.Background())
	var missing *NotFoundError
	if !errors.As(err, &missing) || len(missing.Looked) != len(Names()) {
		t.Fatal(err)
	}
	for _, want := range append(Names(), os.Getenv("PATH")) {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %q", want, err)
		}
	}
}

func TestProbeOfABrokenAgent(t *testing.T) {
	t.Setenv("ROLE", "fails")
	install(t, "pi")
	if probe := pi.Probe(context.Background()); probe.Err == nil || probe.Path == "" {
		t.Errorf("got %+v", probe)
	}
}

func TestProbeThatHangs(t *testing.T) {
	t.Setenv("ROLE", "hangs")
	install(t, "pi")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if probe := pi.Probe(ctx); probe.Err == nil {
		t.Errorf("got %+v", probe)
	}
}
