package start

import (
	"errors"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

func TestWhoSaysHowALoopIsVerified(t *testing.T) {
	file := "[verify]\ncommand = [\"go\", \"test\"]\nwhen = \"each\"\n"
	for _, tt := range []struct {
		name, file string
		said       Check
		want       string
		when       verify.When
		from       config.Source
	}{
		{"nobody", "", Check{}, "", verify.OnPromise, config.FromDefault},
		{"the folder", file, Check{}, "go test", verify.OnEach, config.FromFolder},
		{"the start", file, Check{Verify: "make check"}, "make check", verify.OnEach, config.FromStart},
		{"the start, until", file, Check{Until: "make"}, "make", verify.OnUntil, config.FromStart},
		{"the start, not at all", file, Check{Off: true}, "", "", config.FromStart},
	} {
		cfg, sources := resolve(t, Resolver{Settings: settingsOf(t, tt.file), Start: Options{Check: tt.said}})
		if got := cfg.Verification.Check; got.String() != tt.want || got.When != tt.when || sources["verify"] != tt.from {
			t.Errorf("%s: %+v from %s", tt.name, got, sources["verify"])
		}
	}
	for _, said := range []Check{{Verify: "a", Until: "b"}, {Verify: "a", Off: true}, {Until: "a", Off: true}, {Verify: " "}} {
		r := Resolver{Settings: settingsOf(t, ""), Start: Options{Check: said}, Detect: detectPi}
		if _, _, err := r.Resolve(t.Context()); err == nil {
			t.Errorf("%+v is taken", said)
		}
	}
}

func TestTheTextOfAStartNamesACheck(t *testing.T) {
	r, err := Parse(`Mend it --verify "go test ./..." --max-iterations 3`)
	if err != nil || r.Check.Verify != "go test ./..." || r.Prompt != "Mend it" {
		t.Errorf("got %+v, %v", r, err)
	}
}

// What an agent writes into ralph.toml or the state file changes nothing about the
// check of its loop.
func TestALoopThatGoesOnHasTheCheckOfItsStart(t *testing.T) {
	files := config.Files{Folder: t.TempDir(), UserDir: t.TempDir(), Trusted: true}
	found := Found{State: loopstate.State{LoopID: "ralph-1", AgentChoice: loopstate.AgentChoice{Backend: "pi"}}}
	Remember(files, loopConfig(t, Check{Verify: "make check"}), "ralph-1")
	goOn := func(said Check, id string) string {
		found.LoopID = id
		cfg, err := goOn(t, Resolver{Settings: settingsOf(t, "verify.command = \"true\""), Start: Options{Check: said}, Detect: detectPi}, found, files)
		must.OK(t, err)
		return cfg.Verification.Check.String()
	}
	for _, tt := range []struct {
		said     Check
		id, want string
	}{
		{Check{}, "ralph-1", "make check"},
		{Check{}, "ralph-2", "true"},
		{Check{Verify: "make"}, "ralph-1", "make"},
		{Check{Off: true}, "ralph-1", ""},
	} {
		if got := goOn(tt.said, tt.id); !strings.EqualFold(got, tt.want) {
			t.Errorf("%+v of %s: %q, want %q", tt.said, tt.id, got, tt.want)
		}
	}
}

// loopConfig is that of a loop which was started with a check.
func loopConfig(t *testing.T, said Check) setup.Config {
	t.Helper()
	cfg, _ := resolve(t, Resolver{Settings: settingsOf(t, ""), Start: Options{Check: said}})
	return cfg
}

// What a state file says of a verification is believed of loops that were started here
// alone, however much the folder is trusted.
func TestALoopThatWasNotStartedHereIsAStrangers(t *testing.T) {
	files := config.Files{Folder: t.TempDir(), UserDir: t.TempDir(), Trusted: true}
	Remember(files, loopConfig(t, Check{}), "ralph-mine")
	for id, want := range map[string]bool{"ralph-mine": false, "ralph-found": true, "": true} {
		cfg, err := goOn(t, Resolver{Settings: settingsOf(t, ""), Detect: detectPi}, Found{State: loopstate.State{LoopID: id, AgentChoice: loopstate.AgentChoice{Backend: "pi"}}}, files)
		if err != nil || cfg.Stranger != want {
			t.Errorf("%s: %v, %v", id, cfg.Stranger, err)
		}
	}
}

func TestTheReviewerIsTheHatOfTheLoopsStart(t *testing.T) {
	const file = "verify.reviewer = \"critic\"\n[hats.critic]\nbackend = { type = \"claude\", args = [\"--model\", \"strict\"] }\n"
	files := config.Files{Folder: t.TempDir(), UserDir: t.TempDir(), Trusted: true}
	cfg, _ := resolve(t, Resolver{Settings: settingsOf(t, file)})
	if r := cfg.Verification.Reviewer; cfg.Verification.Check.Reviewer != "critic" || r.Backend.Name != "claude" || strings.Join(r.Args, " ") != "--model strict" {
		t.Errorf("got %+v", r)
	}
	Remember(files, cfg, "ralph-1")
	for _, tt := range []struct {
		file string
		same bool
	}{{file, true}, {strings.ReplaceAll(file, "strict", "meek"), false}} {
		goOn := func() setup.Config {
			cfg, err := goOn(t, Resolver{Settings: settingsOf(t, tt.file), Detect: detectPi}, Found{State: loopstate.State{LoopID: "ralph-1", AgentChoice: loopstate.AgentChoice{Backend: "pi"}}}, files)
			must.OK(t, err)
			return cfg
		}
		for range 2 { // who goes on twice makes it no other
			cfg := goOn()
			if (cfg.Verification.ReviewerMark == cfg.Verification.Reviewer.Mark()) != tt.same {
				t.Errorf("%s: %q", tt.file, cfg.Verification.ReviewerMark)
			}
			Remember(files, cfg, "ralph-1")
		}
	}
	_, _, err := Resolver{Settings: settingsOf(t, "verify.command = \"make\""), Start: Options{Check: Check{Off: true}}, Detect: detectPi}.Resolve(t.Context())
	if err != nil {
		t.Error(err)
	}
	s := settingsOf(t, "")
	s.Verify.Reviewer = "nobody"
	if _, _, err := (Resolver{Settings: s, Detect: detectPi}).Resolve(t.Context()); !errors.As(err, new(*UnknownHatError)) || !strings.Contains(err.Error(), "the reviewer: there is no hat") {
		t.Errorf("got %v", err)
	}
}
