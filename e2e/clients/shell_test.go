//go:build e2e

package clients

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// Tab completes loops, iterations and the values of flags in real shells, and says
// what it needs where that is missing.
func TestShellCompletion(t *testing.T) {
	install(t, "zsh", "zsh")
	install(t, "fish", "fish")
	const bashCompletion = "/usr/share/bash-completion/bash_completion"
	if _, err := exec.Command("test", "-e", bashCompletion).Output(); err != nil {
		must.OK(t, aptInstall(t, "bash-completion"))
	}
	home, dir := t.TempDir(), t.TempDir()
	must.Write(t, filepath.Join(dir, "PROMPT.md"), "Make all tests pass.\n")
	environ := []string{"HOME=" + home, "TMPDIR=" + home, "PATH=" + agentsDir + ":/usr/bin:/bin", "PS1=> "}
	run := exec.Command(ralph, "run", "--output", "quiet")
	run.Dir, run.Env = dir, environ
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	for _, tt := range []struct {
		name  string
		shell []string
		setUp string
	}{
		{"bash", []string{"bash", "--norc", "--noprofile", "-i"}, "source " + bashCompletion + "; source <(ralph-lsp completion bash)"},
		{"zsh", []string{"zsh", "-f", "-i"}, "autoload -U compinit; compinit -u; source <(ralph-lsp completion zsh)"},
		{"fish", []string{"fish", "-N", "-i"}, "ralph-lsp completion fish | source"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScreen(t, dir, environ, tt.shell[0], tt.shell[1:]...)
			s.press(tt.setUp+"; echo re''ady", "Enter")
			s.shows(`^ready$`)
			s.press("ralph-lsp wat", "Tab")
			s.shows(`ralph-lsp watch$`)
			s.press("Tab")
			s.shows(`ralph-lsp watch ralph-[a-z0-9]{12}`)
			s.press("C-u", "ralph-lsp run --output=pr", "Tab")
			s.shows(`--output=pretty`)
		})
	}
	for _, tt := range []struct {
		name        string
		shell       []string
		setUp, says string
	}{
		{"bash alone", []string{"bash", "--norc", "--noprofile", "-i"}, "source <(ralph-lsp completion bash)", "completion needs the package bash-completion"},
		{"zsh alone", []string{"zsh", "-f", "-i"}, "source <(ralph-lsp completion zsh)", "completion needs zsh's own"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScreen(t, dir, environ, tt.shell[0], tt.shell[1:]...)
			s.press(tt.setUp+"; echo re''ady", "Enter")
			s.shows(`^ready$`)
			s.press("ralph-lsp wat", "Tab")
			s.shows(tt.says)
		})
	}
}
