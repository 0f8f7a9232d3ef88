package start

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// settings reads a ralph.toml that is trusted.
func settingsOf(t *testing.T, file string) config.Settings {
	t.Helper()
	files := config.Files{Folder: t.TempDir(), Builtin: backends.Names(), Trusted: true}
	must.OK(t, os.WriteFile(filepath.Join(files.Folder, config.Name), []byte(file), 0o600))
	s, err := files.Load()
	must.OK(t, err)
	return s
}

// detectPi finds pi.
func detectPi(context.Context) (backends.Backend, error) { return backends.Lookup("pi") }

func resolve(t *testing.T, r Resolver) (setup.Config, Sources) {
	t.Helper()
	r.Detect = detectPi
	cfg, sources, err := r.Resolve(t.Context())
	must.OK(t, err)
	return cfg, sources
}

// piArgs are what the first acceptance line of "Backend Registration" names.
var piArgs = []string{"-p", "--mode", "json", "--no-session"}

// "Given a ralph.yml with cli.backend: pi, when Ralph resolves the backend, then
// it creates a CliBackend with command pi, args ["-p", "--mode", "json",
// "--no-session"], and OutputFormat::PiStreamJson."
func TestGivenBackendPiWhenRalphResolvesTheBackendThenItHasCommandArgsAndFormat(t *testing.T) {
	cfg, sources := resolve(t, Resolver{Settings: settingsOf(t, `backend = "pi"`)})
	if b := cfg.Backend; b.Name != "pi" || b.Command != "pi" || b.Output != decode.FormatPi {
		t.Errorf("got %+v", b)
	}
	if got := cfg.Backend.Argv(nil, cfg.Args); !slices.Equal(got, piArgs) {
		t.Errorf("args %q, want %q", got, piArgs)
	}
	if sources["backend"] != config.FromFolder {
		t.Errorf("the backend comes from %q", sources["backend"])
	}
}

// "Given backend: pi with extra args ["--provider", "anthropic"], when Ralph
// resolves the backend, then the extra args are appended to the default args."
func TestGivenBackendPiWithExtraArgsWhenRalphResolvesTheBackendThenTheyAreAppendedToTheDefaultArgs(t *testing.T) {
	for name, file := range map[string]string{
		"of the backend": "backend = \"pi\"\n[backends.pi]\nargs = [\"--provider\", \"anthropic\"]\n",
		"of a hat":       "[hats.planner]\nbackend = { type = \"pi\", args = [\"--provider\", \"anthropic\"] }\n",
	} {
		t.Run(name, func(t *testing.T) {
			r := Resolver{Settings: settingsOf(t, file)}
			if name == "of a hat" {
				r.Start.Agent.Hat = "planner"
			}
			cfg, sources := resolve(t, r)
			want := append(slices.Clone(piArgs), "--provider", "anthropic")
			if got := cfg.Backend.Argv(nil, cfg.Args); !slices.Equal(got, want) {
				t.Errorf("args %q, want %q", got, want)
			}
			if sources["args"] != config.FromFolder {
				t.Errorf("the args come from %q", sources["args"])
			}
		})
	}
}

// Seed: "from_hat_backend() with NamedWithArgs { type: "pi", args: [...] }", and
// the two hats of its ralph.yml.
func TestPerHatBackends(t *testing.T) {
	s := settingsOf(t, `
[backends.pi]
args = ["--thinking", "low"]
[hats.planner]
backend = { type = "pi", args = ["--provider", "anthropic", "--model", "claude-sonnet-4"] }
[hats.builder]
backend = { type = "pi", args = ["--provider", "openai-codex"] }
[hats.reviewer]
backend = "claude"
[hats.tester]
backend = { command = "my-tester", args = ["--all"] }
[hats.any]
backend = "auto"
`)
	tests := []struct {
		hat, backend string
		args         []string
	}{
		{"planner", "pi", []string{"--thinking", "low", "--provider", "anthropic", "--model", "claude-sonnet-4", "--mine"}},
		{"builder", "pi", []string{"--thinking", "low", "--provider", "openai-codex", "--mine"}},
		{"reviewer", "claude", []string{"--mine"}},
		{"tester", "my-tester", []string{"--all", "--mine"}},
		{"any", "pi", []string{"--thinking", "low", "--mine"}},
	}
	for _, tt := range tests {
		cfg, sources := resolve(t, Resolver{Settings: s, Start: Options{Agent: Agent{Hat: tt.hat, Args: []string{"--mine"}}}})
		if cfg.Hat != tt.hat || cfg.Backend.Name != tt.backend || !slices.Equal(cfg.Args, tt.args) {
			t.Errorf("%s: got %s, %s, %q", tt.hat, cfg.Hat, cfg.Backend.Name, cfg.Args)
		}
		if sources["hat"] != config.FromStart || sources["backend"] != config.FromFolder {
			t.Errorf("%s: sources %v", tt.hat, sources)
		}
	}
}

func TestWhoChoosesTheBackend(t *testing.T) {
	s := settingsOf(t, "backend = \"claude\"\n[hats.a]\nbackend = \"pi\"\n")
	tests := []struct {
		name          string
		start, editor Agent
		want          string
		from          config.Source
	}{
		{"the folder", Agent{}, Agent{}, "claude", config.FromFolder},
		{"the editor", Agent{}, Agent{Name: "pi"}, "pi", config.FromEditor},
		{"the start", Agent{Name: "claude"}, Agent{Name: "pi"}, "claude", config.FromStart},
		{"a hat of the start's before a backend of the editor's", Agent{Hat: "a"}, Agent{Name: "claude"}, "pi", config.FromFolder},
		{"a backend of the start's before a hat of the editor's", Agent{Name: "claude"}, Agent{Hat: "a"}, "claude", config.FromStart},
		{"auto", Agent{Name: "auto"}, Agent{}, "pi", config.FromStart},
	}
	for _, tt := range tests {
		cfg, sources := resolve(t, Resolver{Settings: s, Start: Options{Agent: tt.start}, Editor: Options{Agent: tt.editor}})
		if cfg.Backend.Name != tt.want || sources["backend"] != tt.from {
			t.Errorf("%s: %s from %s, want %s from %s", tt.name, cfg.Backend.Name, sources["backend"], tt.want, tt.from)
		}
	}
}

func TestLimitsHaveTheirPrecedence(t *testing.T) {
	s := settingsOf(t, "[limits]\nmax_iterations = 1\nmax_cost_usd = 1\nmax_duration = \"1h\"\n[completion]\npromise = \"A\"\ninstruct = false\n")
	cfg, sources := resolve(t, Resolver{
		Settings: s,
		Start:    Options{Values: settings.Values{Given: limits.Given{MaxIterations: new(3)}}},
		Editor:   Options{Values: settings.Values{Given: limits.Given{MaxIterations: new(2), MaxCostUSD: new(2.0), Promise: new("B")}}},
	})
	want := limits.Default()
	want.MaxIterations, want.MaxCostUSD, want.MaxDuration = 3, 2, s.Limits().MaxDuration
	if cfg.Limits != want || cfg.Promise != "B" || *cfg.Values.Instruct {
		t.Errorf("got %+v, %q, %v", cfg.Limits, cfg.Promise, *cfg.Values.Instruct)
	}
	wantSources := Sources{"backend": config.FromDefault, "args": config.FromDefault, "model": config.FromDefault, "verify": config.FromDefault}
	for _, s := range settings.All() {
		wantSources[s.Wire] = config.FromDefault
	}
	maps.Copy(wantSources, Sources{"maxIterations": config.FromStart, "maxCostUsd": config.FromEditor, "completionPromise": config.FromEditor,
		"maxDurationMs": config.FromFolder, "instruct": config.FromFolder})
	if diff := cmp.Diff(wantSources, sources); diff != "" {
		t.Error(diff)
	}
}

func TestWhoseThePromiseIs(t *testing.T) {
	none, folder := config.Default(), settingsOf(t, "[completion]\npromise = \"FOLDER\"\n")
	one := "Do it, then `<promise>\n ALL  DONE </promise>`, I mean <promise>ALL DONE</promise>.\n"
	said := func(promise string) Options {
		return Options{Values: settings.Values{Given: limits.Given{Promise: &promise}}}
	}
	for _, tt := range []struct {
		name          string
		prompt        string
		start, editor Options
		settings      config.Settings
		want          string
		from          config.Source
	}{
		{"nobody's", "Do it", Options{}, Options{}, none, "", config.FromDefault},
		{"the prompt's", one, Options{}, Options{}, none, "ALL DONE", config.FromPrompt},
		{"in a code block", "```\n<promise>X</promise>\n```", Options{}, Options{}, none, "X", config.FromPrompt},
		{"a placeholder is one", "say <promise>TEXT</promise>", Options{}, Options{}, none, "TEXT", config.FromPrompt},
		{"of three points", "say <promise>...</promise>", Options{}, Options{}, none, "...", config.FromPrompt},
		{"an empty tag is none", "<promise> </promise>", Options{}, Options{}, none, "", config.FromDefault},
		{"beside an empty tag", "<promise></promise> <promise>X</promise>", Options{}, Options{}, none, "X", config.FromPrompt},
		{"what can't be one is none", "<promise>" + strings.Repeat("x", 2000) + "</promise> <promise>X</promise>", Options{}, Options{}, none, "X", config.FromPrompt},
		{"several are none", one + "<promise>STUCK</promise>", Options{}, Options{}, none, "", config.FromDefault},
		{"the folder's first", one, Options{}, Options{}, folder, "FOLDER", config.FromFolder},
		{"the editor's first", one, Options{}, said("EDITOR"), folder, "EDITOR", config.FromEditor},
		{"the start's first", one, said("START"), said("EDITOR"), folder, "START", config.FromStart},
		{"the start wants none", one, said(""), Options{}, none, "", config.FromStart},
	} {
		cfg, sources := resolve(t, Resolver{Prompt: tt.prompt, Start: tt.start, Editor: tt.editor, Settings: tt.settings})
		if cfg.Prompt != tt.prompt || cfg.Promise != tt.want || sources["completionPromise"] != tt.from || cfg.PromiseFrom != string(tt.from) {
			t.Errorf("%s: %q from %s (%s)", tt.name, cfg.Promise, sources["completionPromise"], cfg.PromiseFrom)
		}
	}
}

func TestCustomBackends(t *testing.T) {
	s := settingsOf(t, `
backend = "mine"
[backends.mine]
command = "my-agent"
args = ["--headless"]
prompt = "file"
output = "claude-stream-json"
interactive_args = ["--tui"]
[backends.pi]
command = "./bin/pi"
prompt = "arg"
`)
	cfg, _ := resolve(t, Resolver{Settings: s})
	b := cfg.Backend
	if b.Name != "mine" || b.Command != "my-agent" || b.Prompt != backends.PromptFile || b.Output != decode.FormatClaude ||
		!slices.Equal(b.Argv(nil, cfg.Args), []string{"--headless"}) || !slices.Equal(b.InteractiveArgs, []string{"--tui"}) {
		t.Errorf("got %+v", b)
	}
	cfg, _ = resolve(t, Resolver{Settings: s, Start: Options{Agent: Agent{Name: "pi"}}})
	if b := cfg.Backend; !strings.HasSuffix(b.Command, filepath.FromSlash("/bin/pi")) || !filepath.IsAbs(b.Command) || b.Prompt != backends.PromptArg || b.Output != decode.FormatPi {
		t.Errorf("got %+v", b)
	}
}

func TestWhatCantBeResolved(t *testing.T) {
	s := settingsOf(t, "[backends.mine]\ncommand = \"x\"\n[hats.builder]\nbackend = \"mine\"\n")
	tests := []struct {
		name  string
		agent Agent
		want  string
	}{
		{"unknown backend", Agent{Name: "mein"}, `unknown backend "mein": did you mean mine? known are ` + strings.Join(backends.Detected(), ", ") + ", mine, or a path to a program"},
		{"unknown hat", Agent{Hat: "bilder"}, `there is no hat "bilder": did you mean builder? known are builder`},
		{"hat and another backend", Agent{Hat: "builder", Name: "pi"}, "the hat builder is one of mine; leave out the backend pi, or the hat"},
		{"format of a known backend", Agent{Name: "mine", Output: "text"}, "go with a program of your own"},
	}
	for _, tt := range tests {
		_, _, err := Resolver{Settings: s, Start: Options{Agent: tt.agent}, Detect: detectPi}.Resolve(t.Context())
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
	_, _, err := Resolver{Settings: config.Default(), Start: Options{Agent: Agent{Hat: "a"}}}.Resolve(t.Context())
	if err == nil || !strings.Contains(err.Error(), "none is described") {
		t.Errorf("no hats: got %v", err)
	}
}

// "Given ralph plan with backend: pi, when launching interactive mode, then pi is
// invoked as pi --no-session "prompt" (no -p, no --mode json)."
func TestGivenRalphPlanWithBackendPiWhenLaunchingInteractiveModeThenPiIsInvokedAsPiNoSessionPrompt(t *testing.T) {
	bin := t.TempDir()
	program := filepath.Join(bin, "pi")
	must.OK(t, os.WriteFile(program, nil, 0o700))
	t.Setenv("PATH", bin)
	s := settingsOf(t, `
backend = "pi"
[backends.pi]
args = ["--thinking", "low"]
[hats.planner]
backend = { type = "pi", args = ["--model", "opus"] }
`)
	tests := []struct {
		name   string
		agent  Agent
		prompt string
		want   []string
	}{
		{"as the seed says", Agent{}, "prompt", []string{program, "--no-session", "prompt"}},
		{"without a prompt", Agent{}, "", []string{program, "--no-session", "Ask me what is to be done."}},
		{"with an at sign", Agent{}, "@home", []string{program, "--no-session", "\n@home"}},
		{"with a dash", Agent{}, "-x", []string{program, "--no-session", "\n-x"}},
		{"with a hat", Agent{Hat: "planner"}, "prompt", []string{program, "--no-session", "--model", "opus", "prompt"}},
		{"with arguments", Agent{Args: []string{"-c"}}, "prompt", []string{program, "--no-session", "-c", "prompt"}},
		{"with a model", Agent{Hat: "planner", Model: "sonnet"}, "", []string{program, "--no-session", "--model", "opus", "--model", "sonnet", "Ask me what is to be done."}},
	}
	for _, tt := range tests {
		_, argv, err := Resolver{Settings: s, Start: Options{Agent: tt.agent}, Detect: detectPi}.Interactive(t.Context(), tt.prompt)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		prompt, told, _ := strings.Cut(argv[len(argv)-1], "\n\n")
		argv[len(argv)-1] = prompt
		if !slices.Equal(argv, tt.want) || !strings.Contains(told, "write it as tasks into PLAN.md") || !strings.Contains(told, "(verify: COMMAND)") {
			t.Errorf("%s: got %q, told %q", tt.name, argv, told)
		}
	}
}

func TestContinue(t *testing.T) {
	s := settingsOf(t, `
[backends.mine]
command = "my-agent"
[backends.pi]
args = ["--thinking", "low"]
[hats.planner]
backend = { type = "pi", args = ["--model", "opus"] }
[hats.reader]
backend = { type = "pi", args = ["--read"] }
[hats.coder]
backend = { command = "/bin/coder", args = ["--code"] }
`)
	files := config.Files{Folder: t.TempDir(), UserDir: t.TempDir(), Builtin: backends.Names()}
	for backend, args := range map[string][]string{"pi": {"--started-here"}, "/bin/agent": {"--danger"}} {
		must.OK(t, files.RememberRun(backend, args))
	}
	must.OK(t, files.RememberLoop("ralph-mine", verify.Check{}, ""))
	tests := []struct {
		name      string
		found     Found
		named     Agent
		backend   string
		args      []string
		untrusted bool
		keeps     bool   // and the settings say others by now
		loses     string // of the arguments that it was started with
	}{
		{name: "a known backend", found: Found{State: loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: "claude"}}}, backend: "claude"},
		{name: "one of the configuration", found: Found{State: loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: "mine"}}}, backend: "mine"},
		{name: "arguments of the configuration", found: Found{State: loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: "pi", BackendArgs: []string{"--thinking", "low"}}}}, backend: "pi", args: []string{"--thinking", "low"}},
		{name: "a hat of the configuration", found: Found{State: loopstate.State{LoopID: "ralph-mine", AgentChoice: loopstate.AgentChoice{Backend: "pi", Hat: "planner", BackendArgs: []string{"--thinking", "low", "--model", "opus"}}}},
			backend: "pi", args: []string{"--thinking", "low", "--model", "opus"}},
		{name: "a hat with a program", found: Found{State: loopstate.State{LoopID: "ralph-mine", AgentChoice: loopstate.AgentChoice{Backend: "/bin/coder", Hat: "coder", BackendArgs: []string{"--code"}, BackendOutput: "text", BackendPrompt: "stdin"}}},
			backend: "/bin/coder", args: []string{"--code"}},
		{name: "a hat that a stranger chose", found: Found{State: loopstate.State{LoopID: "ralph-found", AgentChoice: loopstate.AgentChoice{Backend: "pi", Hat: "planner", BackendArgs: []string{"--thinking", "low", "--model", "opus"}}}}, untrusted: true},
		{name: "another hat gets no arguments of the first", found: Found{State: loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: "pi", Hat: "planner", BackendArgs: []string{"--thinking", "low", "--model", "opus"}}}},
			named: Agent{Hat: "reader"}, backend: "pi", args: []string{"--thinking", "low", "--read"}},
		{name: "arguments that another program was started with", found: Found{State: loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: "/bin/agent", Hat: "coder", BackendArgs: []string{"--danger"}}}}, untrusted: true},
		{name: "a hat that is gone", found: Found{State: loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: "claude", Hat: "gone"}}}, backend: "claude"},
		{name: "arguments that the user started it with", found: Found{State: loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: "pi", BackendArgs: []string{"--started-here"}}}}, backend: "pi", args: []string{"--started-here"}, keeps: true},
		{name: "other arguments", found: Found{State: loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: "pi", BackendArgs: []string{"--evil"}}}}, untrusted: true},
		{name: "a program", found: Found{State: loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: "/bin/evil"}}}, untrusted: true},
		{name: "a program that is named again", found: Found{State: loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: "/bin/agent"}}}, named: Agent{Name: "/bin/agent"}, backend: "/bin/agent"},
		{name: "another backend gets no arguments of the first", found: Found{State: loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: "pi", BackendArgs: []string{"--evil"}}}}, named: Agent{Name: "claude"},
			backend: "claude", args: []string{}},
		{name: "the same backend doesn't vouch for the arguments", found: Found{State: loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: "pi", BackendArgs: []string{"--evil"}}}}, named: Agent{Name: "pi"}, untrusted: true},
		{name: "a known program with arguments of the user's", found: Found{State: loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: "/bin/agent", BackendArgs: []string{"--danger"}}}}, named: Agent{Args: []string{"--good"}},
			backend: "/bin/agent", args: []string{"--good"}, loses: "the arguments --danger, which"},
		{name: "more arguments", found: Found{State: loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: "pi", BackendArgs: []string{"--thinking", "low", "--started-here"}}}}, named: Agent{Args: []string{"--started-here", "--more"}},
			backend: "pi", args: []string{"--thinking", "low", "--started-here", "--more"}},
		{name: "another argument", found: Found{State: loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: "pi", BackendArgs: []string{"--thinking", "low", "--started-here"}}}}, named: Agent{Args: []string{"--more"}},
			backend: "pi", args: []string{"--thinking", "low", "--more"}, loses: "the arguments --started-here, which"},
		{name: "a program with other arguments", found: Found{State: loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: "/bin/evil"}}}, named: Agent{Args: []string{"--good"}}, untrusted: true},
		{name: "all is named again", found: Found{State: loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: "pi", BackendArgs: []string{"--evil"}}}}, named: Agent{Name: "claude", Args: []string{"--good"}},
			backend: "claude", args: []string{"--good"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.found.File = "state.md"
			cfg, err := goOn(t, Resolver{Settings: s, Start: Options{Agent: tt.named}, Detect: detectPi}, tt.found, files)
			var untrusted *config.UntrustedError
			if errors.As(err, &untrusted) != tt.untrusted || err != nil && !tt.untrusted {
				t.Fatalf("got %v", err)
			}
			if !tt.untrusted && (cfg.Backend.Name != tt.backend || !slices.Equal(cfg.Args, tt.args) || !cfg.Continue) {
				t.Errorf("got %s %q", cfg.Backend.Name, cfg.Args)
			}
			if warned := strings.Join(cfg.Warnings, "\n"); !tt.untrusted && strings.Contains(warned, "keeps the arguments") != tt.keeps {
				t.Errorf("warned %q", warned)
			}
			if warned := strings.Join(cfg.Warnings, "\n"); !tt.untrusted && (strings.Contains(warned, "no longer has") != (tt.loses != "") || !strings.Contains(warned, tt.loses)) {
				t.Errorf("warned %q", warned)
			}
		})
	}
	program := Found{"state.md", loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: "/bin/agent", BackendOutput: "pi-stream-json", BackendPrompt: "arg"}, Values: settings.Values{Instruct: new(false)}, Closing: settings.OnCloseKeep}}
	cfg, err := goOn(t, Resolver{Settings: s, Start: Options{Agent: Agent{Name: "/bin/agent"}}}, program, files)
	if err != nil || string(cfg.Backend.Output) != program.BackendOutput || string(cfg.Backend.Prompt) != program.BackendPrompt || *cfg.Values.Instruct || cfg.Values.OnClose != settings.OnCloseKeep {
		t.Errorf("a program is spoken to as before: %+v, %v", cfg.Backend, err)
	}
	var noModel *NoModelError
	if _, err := goOn(t, (Resolver{Settings: s, Start: Options{Agent: Agent{Name: "/bin/agent", Model: "opus"}}}), program, files); !errors.As(err, &noModel) {
		t.Errorf("a model: %v", err)
	}
	program.BackendOutput = "pi-stream"
	if _, err := goOn(t, (Resolver{Settings: s, Start: Options{Agent: Agent{Name: "/bin/agent"}}}), program, files); err == nil || !strings.Contains(err.Error(), `state.md: backend_output: "pi-stream" is unknown: did you mean pi-stream-json?`) {
		t.Errorf("an unknown output: %v", err)
	}
}

// Other tools write no backend into the file.
func TestContinueWithoutABackend(t *testing.T) {
	const text = `
[backends.pi]
args = ["--thinking", "low"]
[backends.claude]
args = ["--effort", "max"]
[hats.planner]
backend = { type = "claude", args = ["--model", "opus"] }
`
	files := config.Files{Folder: t.TempDir(), UserDir: t.TempDir(), Builtin: backends.Names()}
	tests := []struct {
		name      string
		settings  string
		found     Found
		named     Agent
		backend   string
		args      []string
		untrusted bool
	}{
		{name: "the first that is installed", backend: "pi", args: []string{"--thinking", "low"}},
		{name: "the configured one", settings: `backend = "claude"`, backend: "claude", args: []string{"--effort", "max"}},
		{name: "a named one", named: Agent{Name: "claude"}, backend: "claude", args: []string{"--effort", "max"}},
		{name: "with arguments", named: Agent{Args: []string{"--mine"}}, backend: "pi", args: []string{"--thinking", "low", "--mine"}},
		{name: "a hat, which is a choice", found: Found{State: loopstate.State{AgentChoice: loopstate.AgentChoice{Hat: "planner"}}}, untrusted: true},
		{name: "a hat that is gone", found: Found{State: loopstate.State{AgentChoice: loopstate.AgentChoice{Hat: "gone"}}}, backend: "pi", args: []string{"--thinking", "low"}},
		{name: "arguments of the file's", found: Found{State: loopstate.State{AgentChoice: loopstate.AgentChoice{BackendArgs: []string{"--evil"}}}}, untrusted: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.found.File = "state.md"
			resolver := Resolver{Settings: settingsOf(t, tt.settings+text), Start: Options{Agent: tt.named}, Detect: detectPi}
			cfg, err := goOn(t, resolver, tt.found, files)
			if errors.As(err, new(*config.UntrustedError)) != tt.untrusted || err != nil && !tt.untrusted {
				t.Fatalf("got %v", err)
			}
			if !tt.untrusted && (cfg.Backend.Name != tt.backend || !slices.Equal(cfg.Args, tt.args)) {
				t.Errorf("got %s %q", cfg.Backend.Name, cfg.Args)
			}
		})
	}
	nothing := func(context.Context) (backends.Backend, error) { return backends.Backend{}, &backends.NotFoundError{} }
	if _, err := goOn(t, (Resolver{Settings: settingsOf(t, ""), Detect: nothing}), Found{File: "state.md"}, files); !errors.As(err, new(*backends.NotFoundError)) {
		t.Errorf("without an agent: %v", err)
	}
}

func TestAModelForAnAgentThatCannotBeToldOne(t *testing.T) {
	program := Agent{Name: "/bin/agent", Model: "opus"}
	var noModel *NoModelError
	if _, _, err := (Resolver{Start: Options{Agent: program}}).Resolve(t.Context()); !errors.As(err, &noModel) {
		t.Errorf("said at the start: %v", err)
	}
	cfg, sources, err := Resolver{Start: Options{Agent: Agent{Name: "/bin/agent"}}, Editor: Options{Agent: Agent{Model: "opus"}}}.Resolve(t.Context())
	if err != nil || cfg.Model != "" || sources["model"] != config.FromDefault {
		t.Errorf("an editor's setting: %q, %v, %v", cfg.Model, sources, err)
	}
}

func TestArgumentsHaveNoPlaceholders(t *testing.T) {
	for _, arg := range []string{"{prompt}", "--file={prompt_file}"} {
		var bad *ArgumentError
		_, _, err := Resolver{Start: Options{Agent: Agent{Name: "pi", Args: []string{"--good", arg}}}}.Resolve(t.Context())
		if !errors.As(err, &bad) || bad.Argument != arg {
			t.Errorf("%s: %v", arg, err)
		}
	}
}

// Who comes from ralph-orchestrator is told that its file says nothing here, until there is one of ours.
func TestAFolderOfAnotherProgram(t *testing.T) {
	for _, c := range []struct {
		files []string
		told  bool
	}{{nil, false}, {[]string{"ralph.yml"}, true}, {[]string{"ralph.yml", "ralph.toml"}, false}, {[]string{"ralph.toml"}, false}} {
		dir := t.TempDir()
		for _, name := range c.files {
			must.OK(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
		}
		told := othersFile(dir)
		if isTold := len(told) == 1 && strings.HasSuffix(told[0], "ralph-lsp init --from ralph.yml makes one of it"); isTold != c.told || len(told) > 1 {
			t.Errorf("%q: %q", c.files, told)
		}
	}
}

// goOn is the configuration of a loop that goes on, by what these files know.
func goOn(t *testing.T, r Resolver, was Found, files config.Files) (setup.Config, error) {
	t.Helper()
	r.Was, r.Settings.Files = &was, files
	cfg, _, err := r.Resolve(t.Context())
	return cfg, err
}
