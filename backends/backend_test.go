package backends

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

func TestArgumentLists(t *testing.T) {
	const unhooked = ` --settings {"disableAllHooks":true}`
	for _, tt := range []struct {
		name       string
		backend    Backend
		ours, user []string
		want       string
	}{
		{"pi", pi, nil, nil, "-p --mode json --no-session"},
		{"pi with the user's", pi, nil, []string{"--provider", "anthropic"}, "-p --mode json --no-session --provider anthropic"},
		{"claude", claude, nil, nil, "-p --output-format stream-json --verbose --include-partial-messages --no-session-persistence --permission-mode acceptEdits" + unhooked},
		{"claude with another mode", claude, []string{"--model", "m"}, []string{"--permission-mode=plan"},
			"-p --output-format stream-json --verbose --include-partial-messages --no-session-persistence" + unhooked + " --model m --permission-mode=plan"},
		{"claude without permissions", claude, nil, []string{"--dangerously-skip-permissions"},
			"-p --output-format stream-json --verbose --include-partial-messages --no-session-persistence" + unhooked + " --dangerously-skip-permissions"},
		{"kiro", kiro, nil, []string{"--agent", "planner"}, "chat --no-interactive --trust-tools=read,write --agent planner"},
		{"kiro that trusts all", kiro, nil, []string{"--trust-all-tools"}, "chat --no-interactive --trust-all-tools"},
		{"gemini", gemini, []string{"--model", "m"}, nil, "--output-format stream-json --approval-mode auto_edit --model m"},
		{"gemini that asks nothing", gemini, nil, []string{"-y", "--skip-trust"}, "--output-format stream-json -y --skip-trust"},
		{"codex", codex, nil, nil, "exec --json --skip-git-repo-check --ephemeral --sandbox workspace-write"},
		{"codex read-only", codex, nil, []string{"-s", "read-only"}, "exec --json --skip-git-repo-check --ephemeral -s read-only"},
		{"amp", amp, nil, []string{"-m", "high"}, "--execute --stream-json --stream-json-thinking --no-ide --no-notifications -m high"},
		{"copilot", copilot, nil, nil, "--output-format json --stream on --no-ask-user --no-auto-update --allow-tool=write"},
		{"copilot with tools", copilot, nil, []string{"--allow-all-tools"}, "--output-format json --stream on --no-ask-user --no-auto-update --allow-all-tools"},
		{"opencode", opencode, nil, []string{"--auto"}, "run --format json --thinking --auto"},
		{"custom", Custom("x", []string{"--headless"}, PromptStdin, decode.FormatText), nil, []string{"more"}, "--headless more"},
	} {
		if got := strings.Join(tt.backend.Argv(tt.ours, tt.user), " "); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

func TestPermissionsInWords(t *testing.T) {
	for _, tt := range []struct {
		backend Backend
		user    string
		want    string
		own     bool
	}{
		{pi, "", "pi asks nothing and may run any command", false},
		{claude, "--model m", "claude may change files in the folder; commands only as its own settings allow", false},
		{claude, "--dangerously-skip-permissions", "claude asks nothing and may run any command", true},
		{claude, "--permission-mode plan --verbose", "claude may change nothing", true},
		{claude, "--permission-mode=bypassPermissions", "claude asks nothing and may run any command", true},
		{claude, "--permission-mode auto", "claude may do what --permission-mode=auto allows", true},
		{codex, "-s read-only", "codex may only read", true},
		{codex, "--full-auto", "codex may do what --full-auto allows", true},
		{gemini, "--yolo", "gemini asks nothing and may run any command", true},
		{Custom("x", nil, PromptStdin, decode.FormatText), "--yolo", "custom may do whatever it does by itself: ralph-lsp doesn't know it", false},
	} {
		if got, own := tt.backend.Permissions(strings.Fields(tt.user)); got != tt.want || own != tt.own {
			t.Errorf("%s %s: %q, %v, want %q", tt.backend.Name, tt.user, got, own, tt.want)
		}
	}
	for _, b := range builtin {
		if b.May == "" {
			t.Errorf("%s doesn't say what it may do", b.Name)
		}
		for _, r := range b.Replaceable {
			for flag := range r.May {
				if name, _, _ := strings.Cut(flag, "="); !slices.Contains(r.By, name) {
					t.Errorf("%s: nothing gives way to %s", b.Name, name)
				}
			}
		}
	}
}

func TestGivenBackendPiWhenRalphResolvesTheBackendThenItsCommandArgsAndOutputFormat(t *testing.T) {
	b, err := Lookup("pi")
	if err != nil || b.Command != "pi" || b.Output != decode.FormatPi {
		t.Errorf("%+v, %v", b, err)
	}
	if want := []string{"-p", "--mode", "json", "--no-session"}; !slices.Equal(b.Args, want) {
		t.Errorf("got %q, want %q", b.Args, want)
	}
}

func TestGivenExtraArgsWhenRalphResolvesTheBackendThenTheyAreAppendedToTheDefaultArgs(t *testing.T) {
	extra := []string{"--provider", "anthropic"}
	want := []string{"-p", "--mode", "json", "--no-session", "--provider", "anthropic"}
	if got := pi.Argv(nil, extra); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPiInInteractiveModeIsInvokedWithNoSessionAndThePrompt(t *testing.T) {
	got, err := pi.Interactive(nil, "prompt")
	if want := []string{"--no-session", "prompt"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestInteractiveArguments(t *testing.T) {
	for _, tt := range []struct {
		backend Backend
		user    []string
		prompt  string
		want    []string
	}{
		{pi, nil, "", []string{"--no-session"}},
		{pi, []string{"--model", "m"}, "--help me", []string{"--no-session", "--model", "m", "\n--help me"}},
		{claude, nil, "do it", []string{"--", "do it"}},
		{kiro, nil, "do it", []string{"chat", "--", "do it"}},
		{gemini, nil, "-x", []string{"--prompt-interactive=\n-x"}},
		{codex, nil, "-do it", []string{"--", "\n-do it"}},
		{amp, []string{"-m", "high"}, "", []string{"-m", "high"}},
		{copilot, nil, "do it", []string{"--interactive=do it"}},
		{opencode, nil, "do it", []string{"--prompt=do it"}},
	} {
		if got, err := tt.backend.Interactive(tt.user, tt.prompt); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s %q: got %q, %v, want %q", tt.backend.Name, tt.prompt, got, err, tt.want)
		}
	}
	if b, err := Lookup("acp:pi"); err != nil {
		t.Error(err)
	} else if _, err := b.Interactive(nil, ""); err == nil {
		t.Error("an adapter is opened in a terminal, which waits for a client there")
	}
	if _, err := amp.Interactive(nil, "do it"); err == nil {
		t.Error("amp got a prompt that it can't take")
	}
}

func TestNoBackendMayDoEverythingByDefault(t *testing.T) {
	for _, b := range builtin {
		for _, arg := range b.Argv(nil, nil) {
			if strings.Contains(arg, "dangerous") || strings.HasSuffix(arg, "-all") || strings.HasSuffix(arg, "-all-tools") || strings.Contains(arg, "yolo") {
				t.Errorf("%s: %s", b.Name, arg)
			}
		}
	}
}

func TestTextBackendsAreOnATerminal(t *testing.T) {
	for _, b := range builtin {
		if b.PTY != (b.Output == decode.FormatText) {
			t.Errorf("%s: %s on a terminal: %v", b.Name, b.Output, b.PTY)
		}
	}
	if b := Custom("x", nil, PromptStdin, decode.FormatText); b.PTY {
		t.Error("a program of the user's is on a terminal")
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
		if err != nil || b.Name != name || b.Install == "" || b.Prompt == "" || !b.Output.Valid() {
			t.Errorf("%s: %+v, %v", name, b, err)
		}
	}
	for name, near := range map[string]string{"claud": "claude", "PI": "pi", "something": ""} {
		_, err := Lookup(name)
		var unknown *UnknownError
		if !errors.As(err, &unknown) || strings.Contains(err.Error(), "did you mean "+near+"?") != (near != "") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
