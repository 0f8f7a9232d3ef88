package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"go.mod":          "module example.com/m\n\ngo 1.26\n",
		"m.go":            "package m\n\nimport \"io\"\n\nvar Client io.Reader\n\nfunc F() int { return onEach }\n",
		"m_linux.go":      "package m\n\nconst onEach = 1\n",
		"m_windows.go":    "package m\n\nconst onEach = \"one\"\n",
		"m_test.go":       "package m_test\n\nimport (\n\t\"testing\"\n\n\t\"example.com/m\"\n)\n\nfunc TestF(t *testing.T) { m.F() }\n",
		"m_arm64_test.go": "package m_test\n\nvar _ = m.Client\n",
	} {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	for platform, want := range map[string]string{
		"linux/amd64":   "",
		"linux/arm64":   "undefined: m",
		"windows/amd64": "cannot use onEach",
		"darwin/amd64":  "undefined: onEach",
	} {
		system, processor, _ := strings.Cut(platform, "/")
		var got []string
		for _, err := range check(system, processor, "./...") {
			got = append(got, err.Error())
		}
		if all := strings.Join(got, "\n"); !strings.Contains(all, want) || (want == "") != (all == "") {
			t.Errorf("on %s: %q, want %q", platform, all, want)
		}
	}
}
