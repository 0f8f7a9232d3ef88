package orchestrator

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

var update = flag.Bool("update", false, "write the golden files")

var builtin = []string{"claude", "gemini", "kiro", "pi"}

func yamls(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files, %v", err)
	}
	return files
}

func TestAFileIsTakenOver(t *testing.T) {
	for _, file := range yamls(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data := must.Read(t, file)
			settings, prompt, _, err := Convert(data, builtin)
			must.OK(t, err)
			got, golden := string(settings), strings.TrimSuffix(file, ".yml")+".toml"
			if prompt != "" {
				got += "\n# its prompt: " + prompt
			}
			if *update {
				must.OK(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want := must.Read(t, golden)
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestHowALoopBegins(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"with the hat that the first topic wakes", "event_loop: {starting_event: b.go}\nhats: {a: {triggers: [x]}, b: {triggers: [b.go, x]}}", `[hats.b]
triggers = ["loop.start", "x"]`},
		{"with a hat by its name", "event_loop: {starting_hat: b}\nhats: {a: {triggers: [x]}, b: {triggers: [y]}}", `[hats.b]
triggers = ["loop.start", "y"]`},
		{"with a topic that hats publish, too", "event_loop: {starting_event: go}\nhats: {a: {triggers: [go], publishes: [go]}}", `triggers = ["loop.start", "go"]`},
		{"with the one topic of a hat", "event_loop: {starting_event: go}\nhats: {a: {triggers: x}, b: {triggers: y, publishes: x}}", `triggers = ["loop.start", "y"]`},
		{"with the first version's topic", "hats: {a: {triggers: [x]}, b: {triggers: [task.start]}}", `[hats.b]
triggers = ["loop.start"]`},
		{"with a hat that nobody else wakes", "hats: {a: {triggers: [y], publishes: [x]}, b: {triggers: [z], default_publishes: y}}", `[hats.b]
triggers = ["loop.start", "z"]`},
		{"with the first that listens", "hats: {c: {description: x}, a: {triggers: [x], publishes: [x]}, b: {triggers: [x]}}", `[hats.a]
triggers = ["loop.start", "x"]`},
	} {
		settings, _, isWhole, err := Convert([]byte(c.file), builtin)
		if err != nil || !isWhole || !strings.Contains(string(settings)+"\n", c.want+"\n") || strings.Count(string(settings), "loop.start") != 1 {
			t.Errorf("%s: whole %t, %v\n%s", c.name, isWhole, err, settings)
		}
	}
}

func TestAFileThatCannotBeTakenOver(t *testing.T) {
	long := "hats: {a: {triggers: [x], instructions: " + strings.Repeat("x", config.MaxSize) + "}}"
	for file, want := range map[string]string{
		"":                 "can't be read as YAML: ",
		"{}":               "has no keys such as event_loop and hats",
		"- a\n- b\n":       "can't be read as YAML: ",
		"hats:\n  a: [x\n": "can't be read as YAML: ",
		"a: 1\na: 2\n":     "can't be read as YAML: ",
		long:               "put the longest instructions of its hats into files",
	} {
		if settings, _, _, err := Convert([]byte(file), builtin); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s\n%.200s", file, err, want, settings)
		}
	}
}

// What comes of any file can be read, and says nothing that can't be seen.
func FuzzConvert(f *testing.F) {
	for _, file := range yamls(f) {
		data := must.Read(f, file)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		settings, _, _, err := Convert(data, builtin)
		if err != nil {
			return
		}
		for _, p := range config.Check(settings, builtin) {
			if p.Severity == config.Error {
				t.Errorf("line %d: %s\n%s", p.Line, p.Message, settings)
			}
		}
		if strings.ContainsAny(string(settings), "\x00\x1b\u202e\r") {
			t.Errorf("something is hidden in %q", settings)
		}
	})
}
