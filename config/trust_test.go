package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
)

const demanding = `
[backends.mine]
command = "./evil"
[backends.pi]
args = ["--thinking", "high"]
interactive_args = []
[hats.a]
backend = { type = "pi", args = ["-x"] }
`

func TestAFolderThatNamesProgramsIsNotObeyedBeforeItIsTrusted(t *testing.T) {
	f := place(t, demanding, "")
	_, err := f.Load()
	var untrusted *UntrustedError
	if !errors.As(err, &untrusted) {
		t.Fatalf("got %v", err)
	}
	want := []string{
		`backends.mine.command = "./evil"`,
		`backends.pi.args = ["--thinking", "high"]`,
		`hats.a.backend.args = ["-x"]`,
	}
	if diff := cmp.Diff(want, untrusted.Wants); diff != "" {
		t.Error(diff)
	}
	must.OK(t, untrusted.Remember())
	if s := load(t, f); s.Backends["mine"].Command != filepath.Join(f.Folder, "evil") {
		t.Errorf("got %+v", s.Backends)
	}
	must.Write(t, filepath.Join(f.Folder, Name), demanding+"# changed\n")
	if _, err := f.Load(); !errors.As(err, &untrusted) {
		t.Errorf("another content is trusted: %v", err)
	}
	f.Trusted = true
	load(t, f)
}

func TestTrustIsForOneFolder(t *testing.T) {
	f := place(t, demanding, "")
	_, err := f.Load()
	var untrusted *UntrustedError
	if !errors.As(err, &untrusted) || untrusted.Remember() != nil {
		t.Fatal(err)
	}
	other := place(t, demanding, "")
	other.UserDir = f.UserDir
	if _, err := other.Load(); !errors.As(err, &untrusted) {
		t.Errorf("the same file in another folder: %v", err)
	}
	if known, err := f.Forget(); !known || err != nil {
		t.Errorf("forgetting: %v, %v", known, err)
	}
	if known, err := f.Forget(); known || err != nil {
		t.Errorf("forgetting twice: %v, %v", known, err)
	}
	if _, err := f.Load(); !errors.As(err, &untrusted) {
		t.Errorf("still trusted: %v", err)
	}
}

// Who forgets a file doesn't trust it either as it was before.
func TestForgetForgetsAllThatAFileWas(t *testing.T) {
	f := place(t, demanding, "")
	name := filepath.Join(f.Folder, Name)
	trust := func() {
		t.Helper()
		var untrusted *UntrustedError
		if _, err := f.Load(); !errors.As(err, &untrusted) || untrusted.Remember() != nil {
			t.Fatalf("got %v", err)
		}
	}
	trust()
	must.Write(t, name, demanding+"# a comment\n")
	trust()
	must.Write(t, name, demanding+"# another one\n")
	link := filepath.Join(t.TempDir(), "link")
	must.OK(t, os.Symlink(f.Folder, link))
	other := place(t, demanding, "")
	other.UserDir = f.UserDir
	_, err := other.Load()
	var untrusted *UntrustedError
	if !errors.As(err, &untrusted) || untrusted.Remember() != nil {
		t.Fatalf("got %v", err)
	}
	must.OK(t, f.RememberRun("pi", nil))
	if known, err := (Files{Folder: link, UserDir: f.UserDir}).Forget(); !known || err != nil {
		t.Errorf("forgetting: %v, %v", known, err)
	}
	for _, text := range []string{demanding, demanding + "# a comment\n"} {
		must.Write(t, name, text)
		if _, err := f.Load(); !errors.As(err, &untrusted) {
			t.Errorf("still trusted: %v", err)
		}
	}
	load(t, other)
	if err := f.CheckRun("state.md", "pi", nil); err != nil {
		t.Errorf("the run is forgotten too: %v", err)
	}
}

func TestWhatDemandsTrust(t *testing.T) {
	tests := []struct {
		name, file string
		want       bool
	}{
		{"limits and a backend", "backend = \"pi\"\nprompt_file = \"docs/TASK.md\"\n[limits]\nmax_iterations = 3\n", false},
		{"a hat without arguments", "hats.a.backend = \"pi\"", false},
		{"an empty list", "backends.pi.args = []", false},
		{"a program", "backends.pi.command = \"x\"", true},
		{"arguments", "backends.pi.args = [\"x\"]", true},
		{"interactive arguments", "backends.pi.interactive_args = [\"x\"]", true},
		{"a hat's program", "hats.a.backend.command = \"x\"", true},
		{"a hat's arguments", "hats.a.backend = {type = \"pi\", args = [\"x\"]}", true},
		{"how the prompt goes in", "backends.claude.prompt = \"arg\"", true},
		{"how what comes out is read", "backends.claude.output = \"text\"", true},
		{"a check", "verify.command = [\"go\", \"test\"]", true},
		{"a check by the shell", "verify.command = \"make\"", true},
		{"how a check is run", "verify.timeout = \"1s\"\nverify.max_failures = 0", false},
		{"what notifies", "notify.command = [\"x\"]", true},
		{"where notifications go", "notify.webhook = \"https://x.example/\"", true},
		{"what is notified", "notify.on = [\"end\"]\nnotify.include = [\"receipt\"]", false},
		{"a path above", "prompt_file = \"../x\"", true},
		{"an absolute path", "prompt_file = \"/etc/passwd\"", true},
		{"a path above in the middle", "prompt_file = \"a/../../x\"", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := place(t, tt.file, "").Load()
			if got := errors.As(err, new(*UntrustedError)); got != tt.want || !got && err != nil {
				t.Errorf("got %v", err)
			}
		})
		t.Run("of the user: "+tt.name, func(t *testing.T) {
			if _, err := place(t, "", tt.file).Load(); err != nil {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestARunIsKnownWithItsArguments(t *testing.T) {
	f := place(t, "", "")
	must.OK(t, f.RememberRun("/bin/agent", []string{"a", "b"}))
	other := f
	other.Folder = t.TempDir()
	tests := []struct {
		name    string
		files   Files
		backend string
		args    []string
		known   bool
	}{
		{"the same", f, "/bin/agent", []string{"a", "b"}, true},
		{"joined arguments", f, "/bin/agent", []string{"ab"}, false},
		{"fewer arguments", f, "/bin/agent", []string{"a"}, false},
		{"another program", f, "/bin/agent2", []string{"a", "b"}, false},
		{"another folder", other, "/bin/agent", []string{"a", "b"}, false},
	}
	for _, tt := range tests {
		err := tt.files.CheckRun("state.md", tt.backend, tt.args)
		var untrusted *UntrustedError
		if errors.As(err, &untrusted) == tt.known {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
}

func TestAnUnknownRunCanBeTrusted(t *testing.T) {
	f := place(t, "", "")
	var untrusted *UntrustedError
	if err := f.CheckRun("state.md", "pi", []string{"-x"}); !errors.As(err, &untrusted) {
		t.Fatalf("got %v", err)
	}
	if diff := cmp.Diff([]string{`backend = "pi"`, `backend_args = ["-x"]`}, untrusted.Wants); diff != "" {
		t.Error(diff)
	}
	must.OK(t, untrusted.Remember())
	if err := f.CheckRun("state.md", "pi", []string{"-x"}); err != nil {
		t.Error(err)
	}
}

func TestNothingIsRememberedWithoutAPlace(t *testing.T) {
	f := place(t, demanding, "")
	f.UserDir = ""
	_, err := f.Load()
	var untrusted *UntrustedError
	if !errors.As(err, &untrusted) || untrusted.Remember() == nil {
		t.Errorf("got %v", err)
	}
	if err := f.RememberRun("pi", nil); err != nil || f.CheckRun("state.md", "pi", nil) == nil {
		t.Errorf("a run is known: %v", err)
	}
}

func TestOnlyTheUserCanReadWhatIsTrusted(t *testing.T) {
	f := place(t, "", "")
	f.UserDir = filepath.Join(f.UserDir, "new")
	must.OK(t, f.RememberRun("pi", nil))
	info, err := os.Stat(filepath.Join(f.UserDir, "trusted"))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("got %v, %v", info, err)
	}
}

func TestAQuestionShowsWhatItAsksAbout(t *testing.T) {
	args := make([]string, 0, 20)
	for i := range 20 {
		args = append(args, fmt.Sprintf("[backends.b%d]\ncommand = \"x\"\n", i))
	}
	tests := []struct {
		name, file string
		want       []string
	}{
		{"the program before its arguments", "[backends.mine]\nargs = [\"" + strings.Repeat("a", 5000) + "\"]\ncommand = \"./evil\"\n", []string{
			`backends.mine.command = "./evil"`,
			`backends.mine.args = ["` + strings.Repeat("a", 277) + "… (4725 more characters; read all of it in FILE)"}},
		{"what nobody sees", "backends.mine.command = \"a\u202eb\u200dc\ufe0fd\U000e0041 é\"\n", []string{`backends.mine.command = "a\u202Eb\u200Dc\uFE0Fd\U000E0041 é"`}},
		{"what would move the cursor", `backends.mine.command = "a\u001b[2Jb\u009b\r\n"` + "\n", []string{`backends.mine.command = "a\u001b[2Jb\u009B\r\n"`}},
		{"what would run before what only hides it", "backend = \"mine\"\n" + strings.Join(args, "") + "[backends.mine]\nargs = [\"-c\"]\ncommand = \"./evil\"\n", slices.Concat([]string{
			`backends.mine.command = "./evil"`, `backends.mine.args = ["-c"]`,
			`backends.b0.command = "x"`, `backends.b1.command = "x"`, `backends.b10.command = "x"`, `backends.b11.command = "x"`, `backends.b12.command = "x"`,
			`backends.b13.command = "x"`, `backends.b14.command = "x"`, `backends.b15.command = "x"`, `backends.b16.command = "x"`, `backends.b17.command = "x"`,
			"… and 10 more; read all of it in FILE"})},
		{"many", strings.Join(args, ""), slices.Concat([]string{
			`backends.b0.command = "x"`, `backends.b1.command = "x"`, `backends.b10.command = "x"`, `backends.b11.command = "x"`, `backends.b12.command = "x"`,
			`backends.b13.command = "x"`, `backends.b14.command = "x"`, `backends.b15.command = "x"`, `backends.b16.command = "x"`, `backends.b17.command = "x"`,
			`backends.b18.command = "x"`, `backends.b19.command = "x"`, "… and 8 more; read all of it in FILE"})},
	}
	for _, tt := range tests {
		f := place(t, tt.file, "")
		_, err := f.Load()
		var untrusted *UntrustedError
		if !errors.As(err, &untrusted) {
			t.Fatalf("%s: %v", tt.name, err)
		}
		got := untrusted.Lines()
		for i := range got {
			got[i] = strings.ReplaceAll(got[i], untrusted.File, "FILE")
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		if strings.Count(err.Error(), "\n") != len(got) {
			t.Errorf("%s: %s", tt.name, err)
		}
	}
}

// An agent's file counts as it was when its user trusted it.
func TestAgentsAreTrustedAsTheyAre(t *testing.T) {
	f := place(t, "", "")
	scout := Planted{File: filepath.Join(f.Folder, ".pi", "agents", "scout.md"), Data: []byte("a"), Want: "scout: a"}
	judge := Planted{File: filepath.Join(f.Folder, ".pi", "agents", "judge.md"), Data: []byte("b"), Want: "judge: b"}
	var untrusted *UntrustedError
	if err := f.CheckAgents([]Planted{scout, judge}); !errors.As(err, &untrusted) || !untrusted.Agents || untrusted.File != scout.File || !slices.Equal(untrusted.Lines(), []string{"scout: a", "judge: b"}) {
		t.Fatalf("got %v", err)
	}
	must.OK(t, untrusted.Remember())
	if err := f.CheckAgents([]Planted{judge, scout}); err != nil {
		t.Errorf("trusted: %v", err)
	}
	changed := scout
	changed.Data = []byte("c")
	if err := f.CheckAgents([]Planted{changed}); err == nil {
		t.Error("a file that was changed is trusted")
	}
	if known, err := f.Forget(); !known || err != nil || f.CheckAgents([]Planted{judge}) == nil {
		t.Errorf("forgotten: %t, %v", known, err)
	}
	f.Trusted = true
	if err := f.CheckAgents([]Planted{changed}); err != nil {
		t.Errorf("in a trusted folder: %v", err)
	}
}

// What is trusted in a folder that goes is remembered beside it; what the user has trusted before counts there.
func TestTrustGoesWithItsFolder(t *testing.T) {
	users := place(t, demanding, "")
	must.OK(t, users.RememberRun("pi", []string{"-before"}))
	own := users
	own.OwnDir = t.TempDir()
	var untrusted *UntrustedError
	if _, err := own.Load(); !errors.As(err, &untrusted) {
		t.Fatal(err)
	}
	check := verify.Check{Shell: "make"}
	for _, err := range []error{untrusted.Remember(), own.RememberRun("pi", []string{"-x"}), own.RememberLoop("one", check, ""), own.CheckRun("state.md", "pi", []string{"-before"})} {
		if err != nil {
			t.Error(err)
		}
	}
	knows := func(f Files) (all []bool) {
		_, err := f.Load()
		kept, _ := f.CheckOf("one")
		return []bool{err == nil, f.CheckRun("state.md", "pi", []string{"-x"}) == nil, f.HasStarted("one"), kept.Shell == "make"}
	}
	if got := knows(own); slices.Contains(got, false) {
		t.Errorf("beside it are %v", got)
	}
	if got := knows(users); slices.Contains(got, true) {
		t.Errorf("in the user's folder are %v", got)
	}
	if known, err := own.Forget(); !known || err != nil || knows(own)[0] {
		t.Errorf("it is not forgotten: %v, %v", known, err)
	}
	if err := own.RememberLoop("one", verify.Check{}, ""); err != nil || knows(own)[3] {
		t.Errorf("the check stays: %v", err)
	}
}
