package main

import (
	"os/exec"
	"strings"
	"testing"
)

// Ctrl-Z gives the terminal back once, however often it is typed. fg shows the screen again. SIGTERM ends a screen that is
// stopped or in the background. The shell finds its terminal as it was each time.
func TestCtrlZOfTop(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("PI_CODING_AGENT_DIR", t.TempDir())
	const script = `set -m; was=$(stty -g)
same() { [ "$(stty -g)" = "$was" ] && echo same || echo raw; }
ralph-lsp top; echo "<stopped, $(same)>"; read _
fg; echo "<left $?, $(same)>"; read _
ralph-lsp top; echo "<stopped, $(same)>"; read _
kill -TERM %%; bg; wait %%; echo "<ended $?, $(same)>"
ralph-lsp top; bg; echo "<stopped, $(same)>"; read _
kill -TERM %%; wait %%; echo "<ended $?, $(same)>"
`
	const shown, givenBack = "\x1b[?1049h", "\x1b[?1049l"
	term := newTestTerminal(t, exec.Command("sh", "-c", script))
	isStopped := func() {
		t.Helper()
		term.await(givenBack)
		if after := term.await("<stopped, same>"); strings.Contains(after, "leave") || strings.Contains(after, "\x1b[H") {
			t.Errorf("it draws on the shell's screen: %q", after)
		}
	}
	term.await(shown)
	term.types("\x1a\x1a")
	isStopped()
	term.types("\n")
	term.await(shown)
	term.types("q")
	term.await("<left 0, same>")
	term.types("\n")
	for range 2 { // stopped, and in the background
		term.await(shown)
		term.types("\x1a")
		isStopped()
		term.types("\n")
		if after := term.await("<ended 0, same>"); strings.Contains(after, "\x1b") {
			t.Errorf("it draws on the shell's screen at its end: %q", after)
		}
	}
}
