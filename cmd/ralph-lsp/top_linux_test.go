package main

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// The screen speaks to a loop of another process, and however it ends, the terminal is given back
// and the loop goes on.
func TestTop(t *testing.T) {
	agent, err := exec.LookPath("fake-agent")
	insist(err)
	t.Chdir(t.TempDir())
	t.Setenv("PI_CODING_AGENT_DIR", t.TempDir())
	must.Write(t, "script.sh", `ralph-lsp run --detach --max-iterations 3 --backend "`+agent+`" --backend-arg say=ready --backend-arg hang=started Do it
until [ -e started ]; do sleep 0.05; done
for end in q term kill; do
	sh -c 'echo $$ >pid; exec ralph-lsp top'
	echo "<left $?>"
done
stty sane
ralph-lsp status
ralph-lsp cancel
`)
	term := newTestTerminal(t, exec.Command("sh", "script.sh"))
	term.await("ralph-")
	term.await("Ralph 1/3")
	term.types("s")
	term.await("tell it:")
	term.types("leave it alone\r")
	term.await("the next run is told")
	state, err := os.ReadFile(".pi/ralph-loop.local.md")
	insist(err)
	must.Write(t, ".pi/changed", strings.Replace(string(state), "max_iterations: 3", "max_iterations: 9", 1))
	insist(os.Rename(".pi/changed", ".pi/ralph-loop.local.md")) // while half of it is there no loop is
	term.await("a: deny, once")
	term.types("a")
	term.await("> Keep the Limits")
	term.types("\r")
	term.await("the limits stay")
	term.types("q")
	const givenBack = "\x1b[?1049l"
	term.await(givenBack)
	term.await("<left 0>")
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		term.await("Ralph 1/3")
		text, err := os.ReadFile("pid")
		insist(err)
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		insist(err)
		insist(syscall.Kill(pid, sig))
		if sig == syscall.SIGTERM {
			term.await(givenBack)
			term.await("<left 0>")
		}
	}
	term.await("<left 137>")
	status := term.await("cancelled the loop")
	for _, want := range []string{"Ralph 1/3", "guidance  1: leave it alone"} {
		if !strings.Contains(status, want) {
			t.Errorf("%q isn't in %q", want, status)
		}
	}
}
