package start

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// askStart resolves a start.
func askStart(t *testing.T, text string) (argv []string, may string, asks bool, err error) {
	t.Helper()
	request, err := Parse(text)
	if err != nil {
		return nil, "", false, err
	}
	cfg, _, err := Resolver{Prompt: "x", Start: request.Options, Settings: settingsOf(t, "")}.Resolve(t.Context())
	may, _ = cfg.Backend.Permissions(cfg.Args)
	return cfg.Backend.Argv(nil, cfg.Args), may, cfg.Asking.On, err
}

// programs are agents of which nobody knows the version.
func programs(t *testing.T, names ...string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for _, name := range names {
		must.OK(t, os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"), 0o700))
	}
	return folder
}

func TestClaudeAsksItsUser(t *testing.T) {
	t.Setenv("PATH", programs(t, "claude"))
	argv, may, asks, err := askStart(t, `"x" --backend claude --permissions ask`)
	if line := strings.Join(argv, " "); err != nil || !asks || !strings.HasSuffix(line, `--permission-prompt-tool stdio --permission-mode default --settings {"disableAllHooks":true}`) ||
		strings.Contains(line, "acceptEdits") || !strings.Contains(line, "--input-format stream-json") {
		t.Errorf("%v: %s", err, line)
	}
	if !strings.HasPrefix(may, "claude asks you before") {
		t.Error(may)
	}
	argv, may, _, err = askStart(t, `"x" --backend claude --permissions ask --backend-arg --permission-mode=acceptEdits`)
	if err != nil || slices.Contains(argv, "default") || !strings.Contains(may, "unasked; asks you before it runs a command") {
		t.Errorf("%v: %q, %s", err, argv, may)
	}
	if argv, _, asks, err := askStart(t, `"x" --backend claude --permissions agent`); err != nil || asks || slices.Contains(argv, "stdio") {
		t.Errorf("%v: %q", err, argv)
	}
}

// Who wants to be asked isn't told afterwards that nothing could ask.
func TestWhatCannotAskIsRefusedAtTheStart(t *testing.T) {
	t.Setenv("PATH", programs(t, "claude", "codex", "pi"))
	for text, want := range map[string]string{
		`"x" --backend codex --permissions ask`:                                             `codex can't ask you before it does something: choose pi or claude, or leave out permissions = "ask"`,
		`"x" --backend pi --permissions ask`:                                                `pi can't ask you before version 0.80.4`,
		`"x" --backend claude --permissions ask --no-live`:                                  `has to be live: leave out live = "off"`,
		`"x" --backend claude --permissions ask --backend-arg --permission-prompt-tool=mcp`: `asks somebody else than you`,
		`"x" --backend claude --permissions ask --backend-arg --output-format=json`:         `can't ask you with these arguments of yours`,
		`"x" --backend claude --permissions maybe`:                                          `--permissions is "maybe"; write one of agent, ask`,
		`"x" --backend claude --permissions ask --ask-timeout 10`:                           `10s, 10m or 10h`,
	} {
		if _, _, _, err := askStart(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A state file may have been written by anybody: it can ask for more, and not for less.
func TestALoopThatGoesOnStillAsks(t *testing.T) {
	t.Setenv("PATH", programs(t, "claude"))
	minute := new(limits.Duration(time.Minute))
	for _, tt := range []struct {
		name          string
		start         settings.Values
		file          string
		found         settings.Values
		asks, isQuiet bool
		unanswered    time.Duration
	}{
		{"what loosens counts for nothing", settings.Values{}, "permissions = \"ask\"", settings.Values{Permissions: "agent", AskTimeout: minute, Instruct: new(true)}, true, false, 30 * time.Minute},
		{"what it was told", settings.Values{}, "", settings.Values{Permissions: "ask", AskTimeout: minute, Instruct: new(false)}, true, true, time.Minute},
		{"never is no time", settings.Values{}, "", settings.Values{Permissions: "ask", AskTimeout: new(limits.Duration(0))}, true, false, 30 * time.Minute},
		{"what isn't kept", settings.Values{}, "", settings.Values{Live: "on", OnClose: "keep"}, false, false, 30 * time.Minute},
		{"the start's word", settings.Values{Permissions: "agent"}, "", settings.Values{Permissions: "ask", AskTimeout: minute}, false, false, time.Minute},
	} {
		files := config.Files{Folder: t.TempDir(), UserDir: t.TempDir(), Builtin: backends.Names()}
		cfg, err := goOn(t, Resolver{Start: Options{Values: tt.start}, Settings: settingsOf(t, tt.file)}, Found{State: loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: "claude"}, Values: tt.found}}, files)
		if err != nil || cfg.Asking.On != tt.asks || *cfg.Values.Instruct == tt.isQuiet || cfg.Asking.Unanswered != tt.unanswered || cfg.Values.Live == "on" || cfg.Values.OnClose == "keep" {
			t.Errorf("%s: %v, %v, %v, %+v", tt.name, err, cfg.Asking.On, cfg.Asking.Unanswered, cfg.Values)
		}
	}
}

// What its user has said counts for a loop that nobody looks at, too; a no is given in time
// only where somebody has asked for that.
func TestForHowLongALoopWaitsForItsUser(t *testing.T) {
	t.Setenv("PATH", programs(t, "claude"))
	for _, tt := range []struct {
		file, text         string
		unanswered, denied time.Duration
	}{
		{"", `"x" --backend claude --permissions ask`, 30 * time.Minute, 0},
		{"", `"x" --backend claude`, 30 * time.Minute, 0},
		{"", `"x" --backend claude --permissions ask --ask-timeout 0`, 0, 0},
		{"", `"x" --backend claude --permissions ask --ask-timeout 5m`, 5 * time.Minute, 5 * time.Minute},
		{`ask_timeout = "0"`, `"x" --backend claude --permissions ask`, 0, 0},
		{`ask_timeout = "2h"`, `"x" --backend claude --permissions ask`, 2 * time.Hour, 2 * time.Hour},
		{`ask_timeout = "2h"`, `"x" --backend claude`, 2 * time.Hour, 0},
	} {
		request, err := Parse(tt.text)
		must.OK(t, err)
		cfg, _, err := Resolver{Prompt: "x", Start: request.Options, Settings: settingsOf(t, tt.file)}.Resolve(t.Context())
		if err != nil || cfg.Asking.Unanswered != tt.unanswered || cfg.Asking.Timeout != tt.denied {
			t.Errorf("%s %s: %v, %v, %v", tt.file, tt.text, cfg.Asking.Unanswered, cfg.Asking.Timeout, err)
		}
	}
}
