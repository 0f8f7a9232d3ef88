package start

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

const ringFile = `
[hats.first]
triggers = ["loop.start"]
publishes = ["next"]
instructions_file = "first.md"
[hats.alone]
backend = "claude"
instructions = "Alone."
triggers = ["next"]
`

func rolesOf(cfg setup.Config) string {
	var roles []string
	for _, r := range cfg.Roles.Hats {
		roles = append(roles, fmt.Sprintf("%s on %s %q: %s", r.Name, r.Backend.Name, r.Args, r.Instructions))
	}
	return strings.Join(roles, "; ")
}

func TestWhoWearsWhichHat(t *testing.T) {
	for name, tt := range map[string]struct {
		file, more string
		start      Options
		want       string
		base       string
	}{
		"each its own":        {ringFile, "", Options{Agent: Agent{Args: []string{"--fast"}}}, `first on pi ["--fast"]: Go first.; alone on claude []: Alone.`, "pi"},
		"the start's agent":   {ringFile, "", Options{Agent: Agent{Name: "codex"}}, `first on codex []: Go first.; alone on claude []: Alone.`, "codex"},
		"one that is chosen":  {ringFile, "", Options{Agent: Agent{Hat: "alone"}}, `alone on claude []: Alone.`, "claude"},
		"one without a start": {"[hats.a]\nbackend = \"pi\"\n", "", Options{}, ``, "pi"},
		"one that reads": {strings.ReplaceAll(ringFile, "publishes", "read_only = true\npublishes"), "[hats.last]\nbackend = { type = \"pi\", args = [\"--tools\", \"read,bash\"] }\nread_only = true\n", Options{},
			`first on pi ["--tools" "read,grep,find,ls"]: Go first.; alone on claude []: Alone.; last on pi ["--tools" "read,bash"]: `, "pi"},
		"none needs another": {ringFile, "[hats.first.backend]\ntype = \"codex\"\nargs = [\"-x\"]\n", Options{}, `first on codex ["-x"]: Go first.; alone on claude []: Alone.`, "codex"},
	} {
		s := settingsOf(t, tt.file+tt.more)
		first := s.Hats["first"]
		if first.InstructionsFile != "" {
			must.OK(t, os.WriteFile(first.InstructionsFile, []byte("Go first."), 0o600))
		}
		cfg, _ := resolve(t, Resolver{Settings: s, Start: tt.start})
		if got := rolesOf(cfg); got != tt.want || cfg.Backend.Name != tt.base {
			t.Errorf("%s: %s, on %s", name, got, cfg.Backend.Name)
		}
		if isRing := len(cfg.Roles.Hats) > 1; cfg.Roles.HatsEmit() != isRing {
			t.Errorf("%s: hands over: %v", name, !isRing)
		}
	}
}

func TestAHatThatCannotBeWorn(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large.md")
	must.OK(t, os.WriteFile(large, make([]byte, maxInstructions+1), 0o600))
	for file, want := range map[string]string{
		ringFile: "the instructions of the hat first: ",
		"[hats.a]\ntriggers = [\"loop.start\"]\ninstructions_file = '" + large + "'\n": "large.md: it has more than 64 KiB",
		"[hats.a]\ntriggers = [\"x\"]\n":                                               "the hats of ralph.toml: no hat is woken by loop.start",
	} {
		if _, _, err := (Resolver{Settings: settingsOf(t, file), Detect: detectPi}).Resolve(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// A loop whose hats hand over goes on so; in a state file that may be a stranger's they
// need trust.
func TestALoopGoesOnWithItsHats(t *testing.T) {
	s := settingsOf(t, strings.ReplaceAll(ringFile, `instructions_file = "first.md"`, ""))
	files := config.Files{Folder: t.TempDir(), UserDir: t.TempDir()}
	found := Found{"state.md", loopstate.State{LoopID: "ralph-own", AgentChoice: loopstate.AgentChoice{Backend: "pi", Hat: "alone"}, Queue: hats.Queue{Pending: []hats.Topic{{Name: "build.done"}}}}}
	r := Resolver{Settings: s, Detect: detectPi}
	if _, err := goOn(t, r, found, files); err == nil {
		t.Error("a stranger's file chooses hats")
	}
	Remember(files, setup.Config{}, found.LoopID)
	cfg, err := goOn(t, r, found, files)
	if got := rolesOf(cfg); err != nil || got != `first on pi []: ; alone on claude []: Alone.` || cfg.Backend.Name != "pi" {
		t.Errorf("%s on %s, %v", got, cfg.Backend.Name, err)
	}
}

func TestHowManyTopicsAHatTakesAtOnce(t *testing.T) {
	hat := "[hats.a]\ntriggers = [\"loop.start\"]\nconcurrency = 5\n"
	for file, want := range map[string]int{hat: 5, hat + "[iteration]\nparallel_at_once = 2\n": 2, hat + "[iteration]\nparallel_at_once = 8\n": 5} {
		if cfg, _ := resolve(t, Resolver{Settings: settingsOf(t, file)}); cfg.Roles.Hats[0].Concurrency != want {
			t.Errorf("%d, want %d with\n%s", cfg.Roles.Hats[0].Concurrency, want, file)
		}
	}
}
