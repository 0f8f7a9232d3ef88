package start

import (
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func TestFallbacks(t *testing.T) {
	t.Setenv("PATH", programs(t, "claude", "codex", "pi"))
	for name, tt := range map[string]struct {
		file, permissions string
		want              string // name, model, arguments, what it is for
		warning, err      string
	}{
		"as the file says": {"[[fallback]]\nbackend = \"claude\"\nmodel = \"haiku\"\non = [\"quota\"]\n[backends.claude]\nargs = [\"--verbose\"]\n", "", "claude haiku --verbose quota", "", ""},
		"two":              {"[[fallback]]\nbackend = \"claude\"\n[[fallback]]\nbackend = \"codex\"\n", "", "claude   |codex   ", "", ""},
		"the same agent with another model keeps the loop's arguments": {"backend = \"pi\"\n[[fallback]]\nbackend = \"pi\"\nmodel = \"small\"\n", "", "pi small --tools read ", "", ""},
		"one that isn't installed":                                     {"[[fallback]]\nbackend = \"gemini\"\n[[fallback]]\nbackend = \"codex\"\n", "", "codex   ", "the fallback gemini is left out: ", ""},
		"one that can't ask":                                           {"[[fallback]]\nbackend = \"codex\"\n", settings.PermissionsAsk, "", "the fallback codex is left out: codex can't ask you", ""},
		"one that nobody knows":                                        {"[backends.mine]\ncommand = \"x\"\n[[fallback]]\nbackend = \"mine\"\nmodel = \"m\"\n", "", "", "", "fallback: mine can't be told its model"},
	} {
		t.Run(name, func(t *testing.T) {
			start := Options{Agent: Agent{Name: "pi", Args: []string{"--tools", "read"}}, Values: settings.Values{Permissions: tt.permissions}}
			if tt.permissions != "" {
				start.Agent = Agent{Name: "claude"}
			}
			cfg, _, err := Resolver{Settings: settingsOf(t, tt.file), Start: start, Detect: detectPi}.Resolve(t.Context())
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %v", err)
				}
				return
			}
			must.OK(t, err)
			var got []string
			for _, f := range cfg.Fallbacks {
				got = append(got, strings.Join([]string{f.Backend.Name, f.Model, strings.Join(f.Args, " "), strings.Join(f.On, ",")}, " "))
			}
			if text := strings.Join(got, "|"); text != tt.want {
				t.Errorf("got %q, want %q", text, tt.want)
			}
			if told := strings.Join(cfg.Warnings, "\n"); !strings.Contains(told, tt.warning) || tt.warning == "" && strings.Contains(told, "fallback") {
				t.Errorf("told %q", told)
			}
		})
	}
}
