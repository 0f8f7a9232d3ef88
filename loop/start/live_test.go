package start

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
)

// installPi puts a pi into PATH that can be talked to.
func installPi(t *testing.T) {
	t.Helper()
	pkg := filepath.Join(t.TempDir(), "pi")
	must.OK(t, os.MkdirAll(pkg, 0o700))
	for file, text := range map[string]string{"package.json": `{"name":"@earendil-works/pi-coding-agent","version":"0.87.1"}`, "pi": "#!/bin/sh\n"} {
		must.OK(t, os.WriteFile(filepath.Join(pkg, file), []byte(text), 0o700))
	}
	t.Setenv("PATH", pkg)
}

// Live is in force where somebody can talk to the agent, or where it is asked for.
func TestWhenAnAgentIsTalkedTo(t *testing.T) {
	installPi(t)
	for _, c := range []struct {
		file     string
		start    string
		attended bool
		want     bool
		from     config.Source
	}{
		{"", "", true, true, config.FromDefault},
		{"", "", false, false, config.FromDefault},
		{"live = \"on\"\n", "", false, true, config.FromFolder},
		{"live = \"off\"\n", "", true, false, config.FromFolder},
		{"live = \"off\"\n", settings.On, false, true, config.FromStart},
		{"live = \"on\"\n", settings.Off, true, false, config.FromStart},
		{"live = \"off\"\n", settings.Auto, true, true, config.FromStart},
	} {
		r := Resolver{Prompt: "Build", Start: Options{Agent: Agent{Name: "pi"}, Values: settings.Values{Live: c.start}}, Settings: settingsOf(t, c.file), Attended: c.attended}
		cfg, sources, err := r.Resolve(t.Context())
		must.OK(t, err)
		line := []string{"-p", "--mode", "json", "--no-session"}
		if c.want {
			line = []string{"--mode", "rpc", "--no-session"}
		}
		if (cfg.Backend.Prompt == backends.PromptLive) != c.want || !slices.Equal(cfg.Backend.Args, line) || sources["live"] != c.from {
			t.Errorf("%+v: %s %q, from %s", c, cfg.Backend.Prompt, cfg.Backend.Args, sources["live"])
		}
	}
}

// A reviewer is the same whether it can be talked to or not.
func TestAgentsOfStepsAndTheReviewerAreTalkedToToo(t *testing.T) {
	installPi(t)
	pi, err := backends.Lookup("pi")
	must.OK(t, err)
	cfg := setup.Config{Backend: pi, Roles: setup.Roles{Steps: [][]setup.Role{{{Backend: pi}},
		{{Backend: pi}, {Backend: pi, Args: []string{"--mode",
			"json"}}}}}, Verification: setup.Verification{Reviewer: setup.Role{Backend: pi}}}
	cfg.Verification.Check.Reviewer = "critic"
	mark := cfg.Verification.Reviewer.Mark()
	Resolver{Attended: true}.talk(t.Context(), &cfg)
	for i, want := range [][]bool{{true}, {true, false}} {
		for k, w := range cfg.Roles.Steps[i] {
			if (w.Backend.Prompt == backends.PromptLive) != want[k] {
				t.Errorf("step %d, agent %d: %s", i+1, k+1, w.Backend.Prompt)
			}
		}
	}
	if cfg.Verification.Reviewer.Backend.Prompt != backends.PromptLive || cfg.Verification.Reviewer.Mark() != mark {
		t.Errorf("the reviewer: %s, %s", cfg.Verification.Reviewer.Backend.Prompt, cfg.Verification.Reviewer.Mark())
	}
}

// Whoever asks for what can't be is told so, and nobody else is.
func TestAnAgentThatCanNotBeTalkedToIsRunAsBefore(t *testing.T) {
	for live, warnings := range map[string]int{settings.On: 1, settings.Auto: 0} {
		cfg := setup.Config{Backend: backends.Backend{Name: "codex", Prompt: backends.PromptStdin}}
		cfg.Values.Live = live
		Resolver{Attended: true}.talk(context.Background(), &cfg)
		if cfg.Backend.Prompt != backends.PromptStdin || len(cfg.Warnings) != warnings {
			t.Errorf("%s: %s, %q", live, cfg.Backend.Prompt, cfg.Warnings)
		}
	}
}

func TestTheTextOfAStartMaySayLive(t *testing.T) {
	for text, want := range map[string]string{"Build": "", "Build --live": settings.On, "--no-live Build": settings.Off, "--live --no-live Build": settings.Off} {
		if r, err := Parse(text); err != nil || r.Live != want || r.Prompt != "Build" {
			t.Errorf("%q: %q, %q, %v", text, r.Live, r.Prompt, err)
		}
	}
}
