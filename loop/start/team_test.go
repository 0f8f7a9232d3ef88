package start

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
	"github.com/ralph-lsp/ralph-lsp/loop/agents"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// teamPlace makes a folder with files and a home of the user's: scout is the user's on
// pi, critic the user's on claude, worker the folder's on pi.
func teamPlace(t *testing.T, more map[string]string) config.Files {
	t.Helper()
	files := map[string]string{
		"home/.pi/agent/agents/scout.md":  "---\nname: scout\ndescription: Looks\ntools: read, bash\nmodel: a/small\n---\nYou scout.",
		"home/.claude/agents/critic.md":   "---\nname: critic\ntools: [Read]\n---\nYou object.",
		"folder/.pi/agents/worker.md":     "---\nname: worker\ndescription: Works\n---\nYou work.",
		"home/.pi/agent/agents/claude.md": "---\nname: planner\nmodel: claude-opus-4\n---\nYou plan.",
	}
	maps.Copy(files, more)
	dir := testhome.Place(t, files)
	return config.Files{Folder: filepath.Join(dir, "folder"), UserDir: filepath.Join(dir, "user"), Builtin: []string{"pi", "claude", "codex"}}
}

func loadFrom(t *testing.T, files config.Files) config.Settings {
	t.Helper()
	s, err := files.Load()
	must.OK(t, err)
	return s
}

// teamText is who does what: "scout on pi [args]", read-only ones in brackets, those side by side with +.
func teamText(cfg setup.Config) string {
	var steps []string
	for _, step := range cfg.Roles.Steps {
		var side []string
		for _, w := range step {
			text := fmt.Sprintf("%s on %s: %s", w.Name, w.Backend.Name, strings.Join(w.Args, " "))
			if w.Task != "" {
				text += " {" + w.Task + "}"
			}
			if w.ReadOnly {
				text = "(" + text + ")"
			}
			side = append(side, text)
		}
		steps = append(steps, strings.Join(side, " + "))
	}
	for _, r := range cfg.Roles.Hats {
		steps = append(steps, fmt.Sprintf("alone %s on %s: %s", r.Name, r.Backend.Name, strings.Join(r.Args, " ")))
	}
	return strings.Join(steps, " > ") + " | " + cfg.Backend.Name + " " + cfg.Roles.Agents.Flags
}

func named(agent string, chain, parallel []string) []config.Step {
	steps, err := Named(agent, chain, parallel)
	if err != nil {
		panic(err)
	}
	return steps
}

const stepsFile = `
[iteration]
parallel_at_once = 2
steps = [ { agent = "scout", task = "Find: {prompt}" },
  { parallel = [ { agent = "critic" }, { agent = "scout", write = true } ] }, { agent = "critic", task = "{previous}" } ]
`

func TestWhoDoesTheWork(t *testing.T) {
	args := Agent{Args: []string{"--mine"}}
	on := func(backend string) Agent { return Agent{Name: backend, Args: []string{"--mine"}} }
	for _, tt := range []struct {
		name, file string
		start      Options
		want       string
	}{
		{"nobody's", "", Options{}, " | pi "},
		{"one", "", Options{Agent: args, Steps: named("scout", nil, nil)}, "alone scout on pi: --tools read,bash --model a/small --mine | pi --agent scout"},
		{"one on another", "", Options{Agent: on("claude"), Steps: named("planner", nil, nil)}, "alone planner on claude: --model claude-opus-4 --mine | claude --agent planner --backend claude"},
		{"the start's model", "", Options{Agent: Agent{Model: "b/large"}, Steps: named("scout", nil, nil)}, "alone scout on pi: --tools read,bash | pi --agent scout"},
		{"a chain of two backends", "", Options{Agent: args, Steps: named("", []string{"critic", "scout"}, nil)},
			"critic on claude: --tools Read > scout on pi: --tools read,bash --model a/small --mine | pi --chain critic,scout"},
		{"side by side", "", Options{Steps: named("", nil, []string{"scout", "critic", "planner"})},
			"(scout on pi: --tools read --model a/small) + (critic on claude: --tools Read) + (planner on pi: --tools read,grep,find,ls --model claude-opus-4) | pi --parallel scout,critic,planner"},
		{"the file's steps", stepsFile, Options{}, "scout on pi: --tools read,bash --model a/small {Find: {prompt}} > " +
			"(critic on claude: --tools Read) + scout on pi: --tools read,bash --model a/small > critic on claude: --tools Read {{previous}} | claude "},
		{"the start's before the file's", stepsFile, Options{Steps: named("scout", nil, nil)}, "alone scout on pi: --tools read,bash --model a/small | pi --agent scout"},
		{"a hat before the file's", stepsFile + "[hats.a]\nbackend = \"codex\"\n", Options{Agent: Agent{Hat: "a"}}, "alone a on codex:  | codex "},
		{"the start's before hats that hand over", "[hats.a]\ntriggers = [\"loop.start\"]\n", Options{Steps: named("scout", nil, nil)}, "alone scout on pi: --tools read,bash --model a/small | pi --agent scout"},
	} {
		files := teamPlace(t, map[string]string{"folder/ralph.toml": tt.file})
		files.Trusted = true
		cfg, _, err := Resolver{Settings: loadFrom(t, files), Start: tt.start, Detect: detectPi}.Resolve(t.Context())
		if got := teamText(cfg); err != nil || got != tt.want {
			t.Errorf("%s: %s, %v", tt.name, got, err)
		}
		if strings.Contains(tt.file, "at_once") && len(cfg.Roles.Steps) > 0 && cfg.Roles.AtOnce != 2 {
			t.Errorf("%s: %d at once", tt.name, cfg.Roles.AtOnce)
		}
	}
}

func TestATeamThatCannotWork(t *testing.T) {
	nine := strings.Split("scout,scout,scout,scout,scout,scout,scout,scout,scout", ",")
	for _, tt := range []struct {
		name, want string
		start      Options
	}{
		{"nobody of that name", `there is no agent "scot": did you mean scout?`, Options{Steps: named("scot", nil, nil)}},
		{"a hat beside", "--hat, --agent, --chain and --parallel exclude each other; leave all but one out", Options{Agent: Agent{Hat: "a"}, Steps: named("", nil, []string{"scout"})}},
		{"tools that codex can't be told", "the agent scout can't run on codex: codex has no tool like pi's read", Options{Agent: Agent{Name: "codex"}, Steps: named("scout", nil, nil)}},
		{"a model of another family", "the agent scout can't run on claude: claude has no model a/small, which is pi's name for one", Options{Agent: Agent{Name: "claude"}, Steps: named("", []string{"scout"}, nil)}},
		{"too many", "9 agents can't work side by side, only 8", Options{Steps: named("", nil, nine)}},
		{"an unknown backend", `unknown backend "cloud"`, Options{Agent: Agent{Name: "cloud"}, Steps: named("scout", nil, nil)}},
	} {
		_, _, err := Resolver{Settings: loadFrom(t, teamPlace(t, nil)), Start: tt.start, Detect: detectPi}.Resolve(t.Context())
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// What the folder's file says counts once it is trusted, and again after each change.
func TestTheFoldersAgentsNeedTrust(t *testing.T) {
	files := teamPlace(t, nil)
	resolve := func() (setup.Config, error) {
		cfg, _, err := Resolver{Settings: loadFrom(t, files), Start: Options{Steps: named("", []string{"scout", "worker"}, nil)}, Detect: detectPi}.Resolve(t.Context())
		return cfg, err
	}
	cfg, err := resolve()
	var untrusted *config.UntrustedError
	if !errors.As(err, &untrusted) || !slices.Equal(untrusted.Lines(), []string{".pi/agents/worker.md tells its agent: You work."}) {
		t.Fatalf("got %v", err)
	}
	if len(cfg.Roles.Steps) != 2 || !strings.HasPrefix(cfg.Roles.Agents.About[1], "2 of 2: worker (pi) · .pi/agents/worker.md") {
		t.Errorf("a dry run sees %s, %q", teamText(cfg), cfg.Roles.Agents.About)
	}
	must.OK(t, untrusted.Remember())
	if _, err := resolve(); err != nil {
		t.Errorf("trusted: %v", err)
	}
	must.OK(t, os.WriteFile(filepath.Join(files.Folder, ".pi", "agents", "worker.md"), []byte("---\nname: worker\ntools: bash\n---\nYou work otherwise."), 0o600))
	if _, err := resolve(); !errors.As(err, &untrusted) || untrusted.Lines()[0] != ".pi/agents/worker.md · tools bash tells its agent: You work otherwise." {
		t.Errorf("changed: %v", err)
	}
}

// The names are in the state file; what they mean is read and trusted anew.
func TestATeamGoesOn(t *testing.T) {
	files := teamPlace(t, nil)
	must.OK(t, files.RememberLoop("mine", verify.Check{}, ""))
	must.OK(t, files.RememberRun("pi", []string{"--mine"}))
	trusted := files
	trusted.Trusted = true
	for _, tt := range []struct {
		name  string
		files config.Files
		found Found
		start Options
		want  string // or the error behind "!"
	}{
		{"as it was", files, Found{State: loopstate.State{LoopID: "mine", AgentChoice: loopstate.AgentChoice{Backend: "pi", Agents: "--chain critic,scout", BackendArgs: []string{"--mine"}}}}, Options{},
			"critic on claude: --tools Read > scout on pi: --tools read,bash --model a/small --mine | pi --chain critic,scout"},
		{"on the backend that was named", files, Found{State: loopstate.State{LoopID: "mine", AgentChoice: loopstate.AgentChoice{Backend: "claude", Agents: "--agent planner --backend claude"}}}, Options{}, "alone planner on claude: --model claude-opus-4 | claude --agent planner --backend claude"},
		{"as the start says", files, Found{State: loopstate.State{LoopID: "mine", AgentChoice: loopstate.AgentChoice{Backend: "pi", Agents: "--chain critic,scout"}}}, Options{Steps: named("scout", nil, nil)},
			"alone scout on pi: --tools read,bash --model a/small | pi --agent scout"},
		{"with the folder's", files, Found{State: loopstate.State{LoopID: "mine", AgentChoice: loopstate.AgentChoice{Backend: "pi", Agents: "--agent worker"}}}, Options{}, "!the folder's files for agents are not trusted yet"},
		{"with the folder's, trusted", trusted, Found{State: loopstate.State{LoopID: "mine", AgentChoice: loopstate.AgentChoice{Backend: "pi", Agents: "--agent worker"}}}, Options{}, "alone worker on pi:  | pi --agent worker"},
		{"a stranger's choice", files, Found{State: loopstate.State{LoopID: "theirs", AgentChoice: loopstate.AgentChoice{Backend: "pi", Agents: "--agent scout"}}}, Options{}, "!state.md is not trusted yet; it says\n  backend = \"pi\"\n  agents = \"--agent scout\""},
		{"a stranger's arguments", files, Found{State: loopstate.State{LoopID: "mine", AgentChoice: loopstate.AgentChoice{Backend: "pi", Agents: "--agent scout", BackendArgs: []string{"--theirs"}}}}, Options{}, "!state.md is not trusted yet; it says\n  backend = \"pi\"\n  backend_args = [\"--theirs\"]"},
		{"a stranger's choice beside the user's arguments", files, Found{State: loopstate.State{LoopID: "theirs", AgentChoice: loopstate.AgentChoice{Backend: "pi", Agents: "--agent scout", BackendArgs: []string{"--mine"}}}}, Options{}, "!state.md is not trusted yet; it says\n  backend = \"pi\"\n  agents = \"--agent scout\""},
		{"nonsense", files, Found{State: loopstate.State{LoopID: "mine", AgentChoice: loopstate.AgentChoice{Agents: "scout"}}}, Options{}, `!state.md: agents: "scout" is no flag`},
		{"gone", files, Found{State: loopstate.State{LoopID: "mine", AgentChoice: loopstate.AgentChoice{Backend: "pi", Agents: "--agent gone"}}}, Options{}, `!there is no agent "gone"`},
		{"a loop of another kind", files, Found{State: loopstate.State{LoopID: "mine", AgentChoice: loopstate.AgentChoice{Backend: "pi"}}}, Options{}, " | pi "},
	} {
		tt.found.File = "state.md"
		cfg, err := goOn(t, Resolver{Settings: loadFrom(t, tt.files), Start: tt.start, Detect: detectPi}, tt.found, tt.files)
		if want, isError := strings.CutPrefix(tt.want, "!"); isError {
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %v", tt.name, err)
			}
		} else if got := teamText(cfg); err != nil || got != tt.want {
			t.Errorf("%s: %s, %v", tt.name, got, err)
		}
	}
}

func TestTheFilesStepsGoOn(t *testing.T) {
	files := teamPlace(t, map[string]string{"folder/ralph.toml": stepsFile + "[hats.a]\nbackend = \"codex\"\n"})
	files.Trusted = true
	for hat, want := range map[string]int{"": 3, "a": 0} {
		cfg, err := goOn(t, Resolver{Settings: loadFrom(t, files), Detect: detectPi}, Found{"state.md", loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: "claude", Hat: hat}}}, files)
		if err != nil || len(cfg.Roles.Steps) != want {
			t.Errorf("with the hat %q: %s, %v", hat, teamText(cfg), err)
		}
	}
}

// What an agent may do without asking is never behind the end of a line.
func TestWhoTrustsAnAgentSeesItsMode(t *testing.T) {
	a := agents.Agent{Name: "a", File: "/f/a.md", Tools: slices.Repeat([]string{"Read"}, 200), Model: strings.Repeat("m", 400), Mode: "bypassPermissions", IsFolder: true}
	err := config.Files{Folder: "/f", UserDir: t.TempDir()}.CheckAgents([]config.Planted{Planted("/f", a)})
	if err == nil || !strings.Contains(err.Error(), "permission mode bypassPermissions") {
		t.Errorf("got %v", err)
	}
}

func TestFlagsOfATeam(t *testing.T) {
	for text, want := range map[string][]config.Step{
		`/ralph-loop --chain scout,planner,worker "Build X"`: named("", []string{"scout", "planner", "worker"}, nil),
		`--parallel "my scout, b" Build X`:                   named("", nil, []string{"my scout", "b"}),
		`Build X --agent scout`:                              named("scout", nil, nil),
		`Build X --agent 'the "best" one'`:                   named(`the "best" one`, nil, nil),
		"Build X --agent 'a\u00a0b'":                         named("a\u00a0b", nil, nil),
		`Build X --chain 5\",a`:                              named("", []string{`5"`, "a"}, nil),
	} {
		r, err := Parse(text)
		if err != nil || r.Prompt != "Build X" || !cmp.Equal(r.Steps, want) {
			t.Errorf("%s: %+v, %v", text, r, err)
		}
		again, backend, err := parseAgentFlags(AgentFlags(want, "./a b"))
		if err != nil || backend != "./a b" || !cmp.Equal(again, want) {
			t.Errorf("%s: %+v on %q, %v", AgentFlags(want, "./a b"), again, backend, err)
		}
	}
	if _, err := Parse("--chain a,,b X"); err == nil || err.Error() != `--chain: "a,,b" has a place without a name; write names as in scout,planner` {
		t.Errorf("error %v", err)
	}
	if r, err := Parse("--chain a --chain b,c X"); err != nil || !cmp.Equal(r.Steps, named("", []string{"b", "c"}, nil)) {
		t.Errorf("the last one counts: %+v, %v", r.Steps, err)
	}
	for _, text := range []string{"--agent a --chain b X", "--chain a --parallel b X"} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), errTwoWays.Error()) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, both := range []func() ([]config.Step, error){
		func() ([]config.Step, error) { return Named("a", []string{"b"}, nil) },
		func() ([]config.Step, error) { return Named("a", nil, []string{"b"}) },
		func() ([]config.Step, error) { return Named("", []string{"a"}, []string{"b"}) },
	} {
		if steps, err := both(); err != errTwoWays {
			t.Errorf("%v, %v", steps, err)
		}
	}
	if _, err := Parse("--chan a X"); err == nil || !strings.Contains(err.Error(), "did you mean --chain?") {
		t.Errorf("error %v", err)
	}
	var unknown *agents.UnknownError
	_, _, err := Resolver{Settings: config.Default(), Start: Options{Steps: named("nobody-has-this", nil, nil)}, Detect: detectPi}.Resolve(t.Context())
	if !errors.As(err, &unknown) {
		t.Errorf("error %v", err)
	}
}
