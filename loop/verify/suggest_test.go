package verify_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
)

// withPrograms makes programs the only ones that are installed.
func withPrograms(t *testing.T, names ...string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		if runtime.GOOS == "windows" {
			name += ".exe"
		}
		must.OK(t, os.WriteFile(filepath.Join(dir, name), nil, 0o755))
	}
	t.Setenv("PATH", dir)
}

// project makes a folder of files: "NAME" or "NAME: TEXT".
func project(t *testing.T, folder string, files ...string) {
	t.Helper()
	for _, file := range files {
		name, text, _ := strings.Cut(file, ": ")
		path := filepath.Join(folder, name)
		must.Write(t, path, text)
	}
}

func TestAProjectsOwnCheckIsFound(t *testing.T) {
	const node = `package.json: {"scripts": {"test": "node --test"}`
	for name, c := range map[string]struct {
		files     []string
		want      string
		from      string
		installed string // instead of all
	}{
		"nothing":                      {nil, "", "", ""},
		"go":                           {[]string{"go.mod"}, "go test ./...", "go.mod", ""},
		"go before make":               {[]string{"go.mod", "Makefile: test:\n"}, "go test ./...", "go.mod", ""},
		"go isn't installed":           {[]string{"go.mod", "Makefile: test:\n"}, "make test", "Makefile", "make sh"},
		"rust":                         {[]string{"Cargo.toml"}, "cargo test", "Cargo.toml", ""},
		"node":                         {[]string{node + "}"}, "npm test", "package.json", ""},
		"node with a package manager":  {[]string{node + `, "packageManager": "pnpm@9.1.0"}`}, "pnpm test", "package.json", ""},
		"one that isn't installed":     {[]string{node + `, "packageManager": "yarn@4.0.0"}`}, "npm test", "package.json", "npm"},
		"npm's own text is no test":    {[]string{`package.json: {"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}`}, "", "", ""},
		"an empty script":              {[]string{`package.json: {"scripts": {"test": " "}}`}, "", "", ""},
		"a package.json that is none":  {[]string{`package.json: {"scripts": "test"`}, "", "", ""},
		"pyproject names pytest":       {[]string{"pyproject.toml: [tool.pytest.ini_options]\n"}, "pytest", "pyproject.toml", ""},
		"pyproject says nothing of it": {[]string{"pyproject.toml: [project]\nname = \"x\"\n"}, "", "", ""},
		"pytest's files":               {[]string{"tests/test_a.py: def test_a(): pass\n"}, "pytest", "tests/test_a.py", ""},
		"unittest without pytest":      {[]string{"test_a.py: import unittest\n"}, "python3 -m unittest", "test_a.py", "python3"},
		"unittest in its folder":       {[]string{"tests/test_a.py: from unittest import TestCase\n"}, "python3 -m unittest discover -s tests", "tests/test_a.py", "python3"},
		"pytest's tests need it":       {[]string{"test_a.py: def test_a(): pass\n"}, "", "", "python3"},
		"make":                         {[]string{"Makefile: all:\n\ntest: all\n\tcheck\n"}, "make test", "Makefile", ""},
		"make with two colons":         {[]string{"GNUmakefile: test::\n"}, "make test", "GNUmakefile", ""},
		"a variable is no target":      {[]string{"Makefile: test := 1\ntest = 2\ntest ::= 3\ntests:\n\ttest:\n"}, "", "", ""},
		"just":                         {[]string{"justfile: test:\n  go test\n"}, "just test", "justfile", ""},
		"just with arguments":          {[]string{"justfile: @test *args='':\n  go test\n"}, "just test", "justfile", ""},
		"just's variable":              {[]string{"justfile: test := 'x'\n"}, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			programs := strings.Fields(c.installed)
			if len(programs) == 0 {
				programs = strings.Fields("go cargo npm pnpm yarn pytest python3 make just")
			}
			withPrograms(t, programs...)
			folder := filepath.Join(t.TempDir(), "a [strange] folder")
			project(t, folder, c.files...)
			if got := verify.Suggest(folder); got != (verify.Suggestion{Command: c.want, File: c.from}) {
				t.Errorf("got %+v", got)
			}
		})
	}
}
