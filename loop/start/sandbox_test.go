package start

import (
	"testing"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

const walled = "[sandbox]\nmode = \"workspace\"\nhide = [\"~/keys\"]\n"

func TestWhoSaysWhetherThereAreWalls(t *testing.T) {
	for _, c := range []struct {
		file  string
		start string
		want  bool
		from  config.Source
	}{
		{"", "", false, config.FromDefault},
		{walled, "", true, config.FromFolder},
		{"", sandbox.Workspace, true, config.FromStart},
		{walled, sandbox.Off, false, config.FromStart},
	} {
		r := Resolver{Prompt: "Build", Start: Options{Agent: Agent{Name: "/bin/agent"}, Values: settings.Values{Sandbox: c.start}}, Settings: settingsOf(t, c.file)}
		cfg, sources, err := r.Resolve(t.Context())
		must.OK(t, err)
		if cfg.Sandbox.IsOn() != c.want || sources["sandbox"] != c.from {
			t.Errorf("%+v: %+v, from %s", c, cfg.Sandbox, sources["sandbox"])
		}
		if c.file != "" && (len(cfg.Sandbox.Hide) != 1 || cfg.Sandbox.Hide[0] != "~/keys") {
			t.Errorf("%+v: hides %q", c, cfg.Sandbox.Hide)
		}
	}
}

// Walls that are forgotten when a loop goes on were none.
func TestALoopThatGoesOnHasTheWallsThatItHad(t *testing.T) {
	for _, c := range []struct {
		name, file string
		start      string
		found      string
		engine     string
		want       bool
	}{
		{name: "as it was started", found: sandbox.Workspace, engine: sandbox.Runtime, want: true},
		{name: "the files want none by now", file: "sandbox.mode = \"off\"\n", found: sandbox.Workspace, engine: sandbox.Bubblewrap, want: true},
		{name: "the user takes them away", start: sandbox.Off, found: sandbox.Workspace},
		{name: "the files want some by now", file: walled, want: true},
		{name: "the user wants some now", start: sandbox.Workspace, want: true},
		{name: "a stranger's file wants none", file: walled, found: "off", want: true},
		{name: "never any"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := config.Files{Folder: t.TempDir(), UserDir: t.TempDir(), Builtin: backends.Names()}
			r := Resolver{Start: Options{Values: settings.Values{Sandbox: c.start}}, Settings: settingsOf(t, c.file)}
			cfg, err := goOn(t, r, Found{State: loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: "pi"}, Values: settings.Values{Sandbox: c.found}, SandboxEngine: c.engine}}, files)
			must.OK(t, err)
			if cfg.Sandbox.IsOn() != c.want || c.want && cfg.Sandbox.Engine != c.engine {
				t.Errorf("got %+v", cfg.Sandbox)
			}
		})
	}
}

func TestTheTextOfAStartMayWantWalls(t *testing.T) {
	for text, want := range map[string]string{"Build": "", "Build --sandbox workspace": sandbox.Workspace, "--sandbox=off Build": sandbox.Off} {
		if r, err := Parse(text); err != nil || r.Sandbox != want || r.Prompt != "Build" {
			t.Errorf("%q: %+v, %v", text, r, err)
		}
	}
	if _, err := Parse("Build --sandbox all"); err == nil || err.Error() != `--sandbox is "all"; write one of off, workspace` {
		t.Errorf("got %v", err)
	}
}
