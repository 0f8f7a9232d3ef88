package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func TestUTF8Locale(t *testing.T) {
	for _, tt := range []struct {
		all, ctype, lang string
		want             bool
	}{
		{"", "", "", true},
		{"", "", "en_US.UTF-8", true},
		{"", "UTF-8", "C", true},
		{"C.utf8", "C", "C", true},
		{"C", "", "en_US.UTF-8", false},
		{"", "POSIX", "en_US.UTF-8", false},
		{"", "", "de_DE.ISO-8859-1", false},
		{"", "", "en_US", false},
	} {
		t.Setenv("LC_ALL", tt.all)
		t.Setenv("LC_CTYPE", tt.ctype)
		t.Setenv("LANG", tt.lang)
		if got := terminal.UTF8Locale(); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// Whatever the program says is ASCII where the locale isn't UTF-8, on a terminal
// and in a pipe; what is for programs stays as it is.
func TestMarksAreASCIIWithoutUTF8(t *testing.T) {
	agent, err := exec.LookPath("fake-agent")
	must.OK(t, err)
	ralph, err := exec.LookPath("ralph-lsp")
	must.OK(t, err)
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("PI_CODING_AGENT_DIR", t.TempDir())
	t.Setenv("LC_ALL", "C")
	run := []string{"run", "--replace", "--max-iterations", "1", "--backend", agent, "--backend-arg",
		"say=# Done\n\n> quoted\n\n- one\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---\n" + strings.Repeat("long ", 40)}
	words := strings.Repeat("all the words of a prompt ", 8)
	for _, args := range [][]string{
		append(run, words), append(run, "--output", "console", words), append(run, "--output", "quiet", words), append(run, "--dry-run", words),
		{"demo", "--fast"}, {"status"}, {"doctor"}, {"changes"}, {"history"}, {"history", "show"}, {"watch"}, {"cancel"}, {"help"}, {"run", "--help"}, {"nonesuch"},
	} {
		term := newTestTerminal(t, exec.Command("sh", append([]string{"-c", `"$@"; echo "<ended>"`, "sh", ralph}, args...)...))
		mustBeASCII(t, args, term.await("<ended>"))
		out, _ := exec.Command(ralph, args...).CombinedOutput()
		mustBeASCII(t, args, string(out))
	}

	foreign := "Ünïcode · ✓ …"
	must.Write(t, filepath.Join(dir, "agent.txt"), foreign)
	for _, args := range [][]string{
		{"run", "--replace", "--output", "json", "--max-iterations", "1", "--backend", agent, "--backend-arg", "say=" + foreign, "x"},
		{"decode", "--format", "text", "agent.txt"},
	} {
		out, err := exec.Command(ralph, args...).Output()
		if !strings.Contains(string(out), foreign) {
			t.Errorf("%q: %v, %s", args, err, out)
		}
	}
	out, _ := exec.Command(ralph, append(run[:len(run)-1], "say=Ünïcode", "x")...).Output()
	if !strings.Contains(string(out), "Ünïcode") {
		t.Errorf("the agent's own words became %s", out)
	}
}

func mustBeASCII(t *testing.T, args []string, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		for _, r := range line {
			if r > '~' {
				t.Errorf("%q printed %q: %q", args, r, line)
				break
			}
		}
	}
}
