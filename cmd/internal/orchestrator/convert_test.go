package orchestrator

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/config"
)

var update = flag.Bool("update", false, "write the golden files")

var builtin = []string{"pi", "claude", "codex", "gemini", "kiro"}

// Each file of testdata becomes the ralph.toml beside it, which has no mistakes.
func TestFilesInOurWords(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files (%v)", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Convert(data, builtin)
			if err != nil {
				t.Fatal(err)
			}
			var notes strings.Builder
			for _, n := range got.Notes {
				fmt.Fprintf(&notes, "%d: %s\n", n.Line, n.Text)
			}
			if got.Prompt != "" {
				fmt.Fprintf(&notes, "PROMPT.md:\n%s", got.Prompt)
			}
			for _, p := range config.Check(got.Settings, builtin) {
				fmt.Fprintf(&notes, "ralph.toml:%d: %s\n", p.Line, p.Message)
			}
			notes.WriteString(config.DrawHats(got.Settings, builtin))
			stem := strings.TrimSuffix(file, ".yml")
			golden(t, stem+".toml", string(got.Settings))
			golden(t, stem+".txt", notes.String())
		})
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || string(want) != got {
		t.Errorf("%s (%v) has\n%s\nwant\n%s", file, err, got, want)
	}
}

// bomb is a file in which few bytes stand for a billion values.
func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := range 9 {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 10), ", "))
	}
	return b.String() + "core:\n  guardrails: *a9\n"
}

func TestFilesThatCantBeTakenOver(t *testing.T) {
	tests := []struct {
		name, file string
		line       int
		want       string
	}{
		{"no YAML", "cli:\n  backend: [pi\nhats: {}\n", 3, "isn't YAML: did not find expected"},
		{"tabs", "cli:\n\tbackend: pi\n", 2, "isn't YAML"},
		{"unknown alias", "cli: *nobody\n", 1, "unknown anchor"},
		{"empty", "\n", 1, "is empty"},
		{"only comments", "# nothing\n", 1, "is empty"},
		{"null", "~\n", 1, "has no keys"},
		{"a list", "- pi\n", 1, "has no keys such as event_loop"},
		{"empty table", "{}\n", 1, "has no keys"},
		{"two documents", "cli: {}\n---\ncli: {}\n", 0, "isn't YAML: yaml: expected single document"},
		{"a key twice", "hats:\n  a: {triggers: [x]}\n  b: {}\n  a: {}\n", 4, `isn't YAML: mapping key "a" already defined at line 2`},
		{"not UTF-8", "cli:\n  backend: \xff\n", 0, "isn't YAML: invalid leading UTF-8 octet"},
		{"binary", "cli: \x00\n", 0, "isn't YAML: control characters are not allowed"},
		{"large", strings.Repeat("# x\n", MaxSize), 0, "has more than 262144 bytes"},
		{"merged into itself", "hats: &h\n  a: {}\n  <<: *h\n", 3, "isn't YAML: merge-key: cyclic merge alias"},
		{"instructions too long", "hats:\n  a:\n    triggers: [task.start]\n    instructions: " + strings.Repeat("x", 70_000), 0, "has more instructions than fit"},
	}
	for _, tt := range tests {
		_, err := Convert([]byte(tt.file), builtin)
		var bad *Error
		if !errors.As(err, &bad) || bad.Line != tt.line || !strings.Contains(bad.Message, tt.want) {
			t.Errorf("%s: %+v, want line %d: %s", tt.name, err, tt.line, tt.want)
		}
	}
}

// Aliases that stand for each other or for very much end, and soon.
func TestAliasesOfHostileFiles(t *testing.T) {
	for name, file := range map[string]string{
		"bomb":  bomb(),
		"cycle": "hats: &h\n  a: *h\n  b: {triggers: &l [*l], backend: *h, <<: *h}\n",
		"self":  "core: &c\n  guardrails: &g [*g, *c]\n",
	} {
		if _, err := Convert([]byte(file), builtin); err != nil && !errors.As(err, new(*Error)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is written has no mistake and no more lines than it should, whatever the file says.
func FuzzConvert(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.yml")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(bomb()))
	f.Add([]byte("hats: {\"a\\nb\": {name: \"x\\n[hats.y]\", triggers: [\"a\\\"b\", \"*\"], instructions: \"'''\\\"\\\"\\\"\\\\\\n\\\"\"}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Convert(data, builtin)
		if err != nil {
			if bad := (*Error)(nil); !errors.As(err, &bad) || strings.Contains(bad.Message, "can't be taken over") && !strings.Contains(bad.Message, "more than") {
				t.Errorf("%v", err)
			}
			return
		}
		for _, p := range config.Check(got.Settings, builtin) {
			if p.Severity == config.Error {
				t.Errorf("%s in\n%s", p.Message, got.Settings)
			}
		}
		for _, n := range got.Notes {
			if n.Line < 1 {
				t.Errorf("no line: %s", n.Text)
			}
		}
	})
}
