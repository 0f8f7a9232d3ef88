package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
)

// place makes a folder with a file, a user's folder with another, and says
// where they are. An empty text makes no file.
func place(t *testing.T, folderFile, userFile string) Files {
	t.Helper()
	f := Files{Folder: t.TempDir(), UserDir: t.TempDir(), Builtin: builtin}
	for name, text := range map[string]string{filepath.Join(f.Folder, Name): folderFile, filepath.Join(f.UserDir, UserName): userFile} {
		if text != "" {
			must.Write(t, name, text)
		}
	}
	return f
}

func load(t *testing.T, f Files) Settings {
	t.Helper()
	s, err := f.Load()
	must.OK(t, err)
	return s
}

func TestWithoutFilesTheSettingsAreBuiltIn(t *testing.T) {
	s := load(t, place(t, "", ""))
	if s.Limits() != limits.Default() || s.Backend != Auto || s.PromptFile != "PROMPT.md" || s.Loop.CompletionPromise() != "" || !*s.Loop.Instruct {
		t.Errorf("got %+v", s)
	}
	if from := s.Source("limits.max_iterations"); from != FromDefault {
		t.Errorf("max_iterations comes from %q", from)
	}
	if from := s.Source("completion.promise"); from != "" {
		t.Errorf("the promise comes from %q", from)
	}
}

func TestTheFolderWinsOverTheUser(t *testing.T) {
	f := place(t, `
backend = "mine"
[limits]
max_iterations = 3
max_cost_usd = 2
`, `
backend = "claude"
[limits]
max_iterations = 9
idle_timeout = "0"
[completion]
promise = "ALL DONE"
instruct = false
[backends.mine]
command = "./bin/agent"
args = ["--fast"]
output = "pi-stream-json"
[backends.pi]
args = ["--provider", "anthropic"]
`)
	f.Trusted = true
	s := load(t, f)
	if s.Backend != "mine" || s.Loop.CompletionPromise() != "ALL DONE" || *s.Loop.Instruct {
		t.Errorf("got %+v", s)
	}
	if want := (limits.Limits{MaxIterations: 3, MaxCostUSD: 2, MaxDuration: 4 * time.Hour, ToolTimeout: time.Hour, MaxFailures: 5, MaxUnchanged: 5, MaxUnknown: 3}); s.Limits() != want {
		t.Errorf("limits %+v, want %+v", s.Limits(), want)
	}
	want := map[string]BackendSettings{
		"mine": {Command: filepath.Join(f.UserDir, "bin/agent"), Args: []string{"--fast"}, Output: "pi-stream-json"},
		"pi":   {Args: []string{"--provider", "anthropic"}},
	}
	if diff := cmp.Diff(want, s.Backends); diff != "" {
		t.Error(diff)
	}
	for key, from := range map[string]Source{
		"backend": FromFolder, "limits.max_iterations": FromFolder, "limits.idle_timeout": FromUser,
		"limits.max_duration": FromDefault, "backends.mine.args": FromUser,
	} {
		if got := s.Source(key); got != from {
			t.Errorf("%s comes from %q, want %q", key, got, from)
		}
	}
}

func TestAHatIsReplacedAsAWhole(t *testing.T) {
	f := place(t, `hats.planner.backend = "pi"`, `hats.planner.backend = { command = "x", args = ["-v"] }`)
	f.Trusted = true
	s := load(t, f)
	if diff := cmp.Diff(Hat{Backend: "pi", Hat: hats.Hat{Name: "planner"}}, s.Hats["planner"]); diff != "" {
		t.Error(diff)
	}
	if from := s.Source("hats.planner.backend.command"); from != "" {
		t.Errorf("the command that is gone comes from %q", from)
	}
}

func TestEachKeyIsPutSomewhere(t *testing.T) {
	for _, key := range Keys() {
		_, isLimit := limits.ByKey(key.Name())
		_, isSetting := settings.ByKey(strings.Join(key.Path, "."))
		if isElsewhere := isLimit || isSetting || key.Type == Table || InList(key.Path...); (key.put == nil) != isElsewhere {
			t.Errorf("%s is put nowhere, or twice", strings.Join(key.Path, "."))
		}
	}
	for _, s := range settings.All() {
		if _, ok := Lookup(path(s.Key)...); !ok {
			t.Errorf("%s has no table in ralph.toml", s.Key)
		}
	}
}

func TestValuesAreListedWithTheirSources(t *testing.T) {
	s := load(t, place(t, `hats.b.backend = "pi"`, "[limits]\nmax_cost_usd = 2.5\n[notify]\nwebhook = \"https://u.example/secret?key=x\"\n"))
	var got, keysOf []string
	for _, v := range s.Values() {
		keysOf = append(keysOf, v.Key)
		if v.Source != FromDefault || strings.HasPrefix(v.Key, "sandbox.m") {
			got = append(got, v.Key+" = "+v.Text+" "+string(v.Source))
		}
	}
	want := []string{
		`limits.max_cost_usd = 2.5 user`, `sandbox.mode = "off" default`, `sandbox.memory_mb = 0 default`, `notify.webhook = "https://u.example/***" user`, `hats.b.backend = "pi" folder`,
	}
	for _, key := range Keys() { // in the order of the table
		if name := strings.Join(key.Path, "."); key.Default != "" && !slices.Contains(key.Path, Any) && !InList(key.Path...) {
			if len(keysOf) == 0 || keysOf[0] != name {
				t.Fatalf("%s isn't listed at its place: %v", name, keysOf)
			}
			keysOf = keysOf[1:]
		} else if len(keysOf) > 0 && keysOf[0] == name {
			keysOf = keysOf[1:]
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAllProblemsOfBothFilesAreListed(t *testing.T) {
	f := place(t, "backend = \"claud\"\n[limits]\nmax_iteration = 3\n", "prompt_file = 3\n")
	_, err := f.Load()
	var invalid *InvalidError
	if !errors.As(err, &invalid) || len(invalid.Problems) != 3 {
		t.Fatalf("got %v", err)
	}
	want := filepath.Join(f.UserDir, UserName) + ` can't be used:
  line 1, column 15: prompt_file is a number; write a text in quotes
` + filepath.Join(f.Folder, Name) + ` can't be used:
  line 1, column 11: backend is "claud", which isn't a backend; did you mean claude?
  line 3, column 1: limits.max_iteration is not a known key; did you mean max_iterations?`
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Error(diff)
	}
}

func TestTheFolderMayUseABackendOfTheUser(t *testing.T) {
	f := place(t, "backend = \"mine\"\n[hats.a]\nbackend = \"mine\"\n", "[backends.mine]\ncommand = \"x\"\n")
	if s := load(t, f); s.Backend != "mine" {
		t.Errorf("got %+v", s)
	}
	if problems := f.Check([]byte(`backend = "mine"`)); len(problems) > 0 {
		t.Errorf("got %+v", problems)
	}
	f.UserDir = ""
	if problems := f.Check([]byte(`backend = "mine"`)); len(problems) != 1 {
		t.Errorf("without the user's file: %+v", problems)
	}
}

func TestAWarningRefusesNothing(t *testing.T) {
	if s := load(t, place(t, "", "[limits]\nmax_iterations = 0\n")); s.Limits().MaxIterations != 0 {
		t.Errorf("got %+v", s.Limits())
	}
}

func TestFilesThatAreNone(t *testing.T) {
	f := place(t, "", "")
	must.OK(t, os.Mkdir(filepath.Join(f.Folder, Name), 0o700))
	if _, err := f.Load(); err == nil || !strings.Contains(err.Error(), "isn't a regular file") {
		t.Errorf("a folder of that name: %v", err)
	}
	f = place(t, strings.Repeat("#", MaxSize+1), "")
	if _, err := f.Load(); !errors.As(err, new(*InvalidError)) {
		t.Errorf("a file that is too large: %v", err)
	}
}

func TestPromptPath(t *testing.T) {
	f := place(t, "", "")
	s := load(t, f)
	if got, err := s.PromptPath(f.Folder); err != nil || got != filepath.Join(f.Folder, "PROMPT.md") {
		t.Errorf("got %s, %v", got, err)
	}
	secret := filepath.Join(t.TempDir(), "secret")
	must.Write(t, secret, "s")
	must.OK(t, os.Symlink(secret, filepath.Join(f.Folder, "PROMPT.md")))
	if got, err := s.PromptPath(f.Folder); err == nil {
		t.Errorf("a link that leads out is followed to %s", got)
	}
	s.PromptFile = secret
	if got, err := s.PromptPath(f.Folder); err != nil || got != secret {
		t.Errorf("got %s, %v", got, err)
	}
}
