package start

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

func TestAStateFileOfNobodysLoopOnlyTightens(t *testing.T) {
	s := settingsOf(t, "[limits]\nmax_cost_usd = 2\n") // and 50, 4h, 10m, 5, 5, 3
	home := t.TempDir()
	files := config.Files{Folder: t.TempDir(), UserDir: home}
	must.OK(t, files.RememberLoop("ralph-mine", verify.Check{}, ""))
	loose := loop.Limits{MaxIterations: 51, MaxCostUSD: 2.5, MaxDuration: 0, IdleTimeout: time.Hour, ToolTimeout: 2 * time.Hour, MaxFailures: 0, MaxUnchanged: 6, MaxUnknown: 4}
	strict := loop.Limits{MaxIterations: 50, MaxCostUSD: 1, MaxDuration: time.Hour, IdleTimeout: time.Minute, ToolTimeout: 2 * time.Minute, MaxFailures: 1, MaxUnchanged: 2, MaxUnknown: 3}
	own := loop.Limits{MaxIterations: 50, MaxCostUSD: 2, MaxDuration: 4 * time.Hour, IdleTimeout: 10 * time.Minute, ToolTimeout: time.Hour, MaxFailures: 5, MaxUnchanged: 5, MaxUnknown: 3}
	elsewhere := files
	elsewhere.Folder = t.TempDir()
	trusted := elsewhere
	trusted.Trusted = true
	for _, tt := range []struct {
		name   string
		id     string
		files  config.Files
		limits loop.Limits
		start  loop.Patch
		want   loop.Limits
		told   int
	}{
		{"a stranger's loop", "ralph-found", files, loose, loop.Patch{}, own, 8},
		{"a stricter one", "ralph-found", files, strict, loop.Patch{}, strict, 0},
		{"a loop without an id", "", files, loose, loop.Patch{}, own, 8},
		{"the user's loop", "ralph-mine", files, loose, loop.Patch{}, loose, 0},
		{"the user's loop of another folder", "ralph-mine", elsewhere, loose, loop.Patch{}, own, 8},
		{"a trusted folder", "ralph-found", trusted, loose, loop.Patch{}, loose, 0},
		{"what the start says counts", "ralph-found", files, loose, loop.Patch{Given: limits.Given{MaxIterations: new(500), MaxDuration: new(limits.Duration(0))}},
			loop.Limits{MaxIterations: 500, MaxCostUSD: 2, IdleTimeout: 10 * time.Minute, ToolTimeout: time.Hour, MaxFailures: 5, MaxUnchanged: 5, MaxUnknown: 3}, 6},
	} {
		cfg, err := goOn(t, Resolver{Settings: s, Start: Options{Values: settings.Values{Given: tt.start.Given}}, Detect: detectPi},
			Found{"state.md", loopstate.State{LoopID: tt.id, AgentChoice: loopstate.AgentChoice{Backend: "pi"}, Values: settings.Values{Given: tt.limits.All()}}}, tt.files)
		must.OK(t, err)
		got, _ := cfg.Change.Over(tt.limits, "")
		if got != tt.want || strings.Count(strings.Join(cfg.Warnings, " "), "is not taken") != tt.told {
			t.Errorf("%s: got %+v, told %q", tt.name, got, cfg.Warnings)
		}
	}
}

func TestOnlyTheLastLoopOfAFolderIsKnown(t *testing.T) {
	files := config.Files{Folder: t.TempDir(), UserDir: t.TempDir()}
	for _, id := range []string{"ralph-one", "ralph-two"} {
		must.OK(t, files.RememberLoop(id, verify.Check{}, ""))
	}
	for id, known := range map[string]bool{"ralph-one": false, "ralph-two": true, "two": false, "": false} {
		if files.KnowsLoop(id) != known {
			t.Errorf("%q is known: %t", id, !known)
		}
	}
	if err := (config.Files{}).RememberLoop("ralph-one", verify.Check{}, ""); err != nil {
		t.Error(err)
	}
	if (config.Files{}).KnowsLoop("ralph-one") {
		t.Error("known without a place to remember it")
	}
}

func TestAStateFileOfNobodysLoopChoosesNoOtherAgentThanTheUser(t *testing.T) {
	own := settingsOf(t, "backend = \"claude\"")
	files := config.Files{Folder: t.TempDir(), UserDir: t.TempDir(), Builtin: backends.Names()}
	must.OK(t, files.RememberLoop("ralph-mine", verify.Check{}, ""))
	for _, tt := range []struct {
		name     string
		settings config.Settings
		found    Found
		named    Agent
		asks     bool
	}{
		{"another agent", own, Found{State: loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: "pi"}}}, Agent{}, true},
		{"the user's agent", own, Found{State: loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: "claude"}}}, Agent{}, false},
		{"in the user's loop", own, Found{State: loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: "pi"}, LoopID: "ralph-mine"}}, Agent{}, false},
		{"named by the start", own, Found{State: loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: "pi"}}}, Agent{Name: "pi"}, false},
		{"no agent of the user's", settingsOf(t, ""), Found{State: loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: "pi"}}}, Agent{}, false},
	} {
		tt.found.File = "state.md"
		_, err := goOn(t, Resolver{Settings: tt.settings, Start: Options{Agent: tt.named}, Detect: detectPi}, tt.found, files)
		if asks := errors.As(err, new(*config.UntrustedError)); asks != tt.asks || err != nil && !asks {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestAStateFileAsThePromptLoosensNoLimit(t *testing.T) {
	file := loop.Patch{Given: limits.Given{MaxIterations: new(0), MaxCostUSD: new(1.0), MaxDuration: new(limits.Duration(5 * time.Hour)), IdleTimeout: new(limits.Duration(10 * time.Minute)), MaxFailures: new(6)}}
	for _, tt := range []struct {
		name   string
		isOwn  bool
		start  loop.Patch
		editor loop.Patch
		want   loop.Limits
		told   int
	}{
		{"a stranger's", false, loop.Patch{}, loop.Patch{}, loop.Limits{MaxIterations: 50, MaxCostUSD: 1, MaxDuration: 4 * time.Hour, IdleTimeout: 10 * time.Minute, ToolTimeout: time.Hour, MaxFailures: 5, MaxUnchanged: 5, MaxUnknown: 3}, 3},
		{"the user's own", true, loop.Patch{}, loop.Patch{}, loop.Limits{MaxIterations: 0, MaxCostUSD: 1, MaxDuration: 5 * time.Hour, IdleTimeout: 10 * time.Minute, ToolTimeout: time.Hour, MaxFailures: 6, MaxUnchanged: 5, MaxUnknown: 3}, 0},
		{"the editor allows more", false, loop.Patch{}, loop.Patch{Given: limits.Given{MaxFailures: new(9), MaxIterations: new(60)}}, loop.Limits{MaxIterations: 60, MaxCostUSD: 1, MaxDuration: 4 * time.Hour, IdleTimeout: 10 * time.Minute, ToolTimeout: time.Hour, MaxFailures: 6, MaxUnchanged: 5, MaxUnknown: 3}, 2},
		{"the start says so", false, loop.Patch{Given: limits.Given{MaxIterations: new(0), MaxDuration: new(limits.Duration(6 * time.Hour))}}, loop.Patch{}, loop.Limits{MaxIterations: 0, MaxCostUSD: 1, MaxDuration: 6 * time.Hour, IdleTimeout: 10 * time.Minute, ToolTimeout: time.Hour, MaxFailures: 5, MaxUnchanged: 5, MaxUnknown: 3}, 1},
	} {
		r := Resolver{Start: Options{Values: settings.Values{Given: tt.start.Given}}, Editor: Options{Values: settings.Values{Given: tt.editor.Given}}, Settings: settingsOf(t, "[limits]\nmax_cost_usd = 2\n")}
		warnings := strings.Join(r.Adopt(Options{Values: settings.Values{Given: file.Given}}, tt.isOwn), " ")
		var cfg setup.Config
		r.say(&cfg)
		if cfg.Limits != tt.want || strings.Count(warnings, "is not taken") != tt.told {
			t.Errorf("%s: got %+v, told %s", tt.name, cfg.Limits, warnings)
		}
	}
}
