package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
)

// runsAt runs a line of a shell at a terminal, in a folder where fake-agent is ./agent.
func runsAt(t *testing.T, line string) *testTerminal {
	t.Helper()
	return newTestTerminal(t, exec.Command("sh", "-c", line+`; echo "<ended $?>"`))
}

func inFolderWithAgent(t *testing.T) {
	t.Helper()
	agent, err := exec.LookPath("fake-agent")
	must.OK(t, err)
	t.Chdir(t.TempDir())
	t.Setenv("PI_CODING_AGENT_DIR", t.TempDir())
	t.Setenv("AGENT", agent)
}

const (
	runsNew  = `ralph-lsp run --output console --max-iterations 1 --backend "$AGENT" --backend-arg say=new New task`
	runsLong = `ralph-lsp run --output console --backend "$AGENT" --backend-arg say=old --backend-arg hang=started Old task`
	asksLive = "Ralph loop active. Cancel it to start the new task? [y/N] "
	asksLeft = "A Ralph loop failed here at iteration 1/50: too many failures in a row. Discard\r\nit to start the new task? [y/N] "
)

func TestAStartAsksAboutTheLoopThatRuns(t *testing.T) {
	inFolderWithAgent(t)
	old := runsAt(t, runsLong)
	old.await("old\r\n")
	for _, no := range []string{"\n", "n\n", "\x04", "maybe\n"} {
		term := runsAt(t, runsNew)
		term.await(asksLive)
		term.types(no)
		said := term.await("<ended 1>")
		if !strings.Contains(said, "nothing was started; the running loop goes on") {
			t.Errorf("after %q: %q", no, said)
		}
		if st, err := loop.FolderStatus("."); err != nil || st.Owner == nil || st.State != loop.StateRunning {
			t.Fatalf("after %q the loop is %s, %v", no, st.State, err)
		}
	}
	term := runsAt(t, runsNew)
	term.await(asksLive)
	term.types("y\n")
	old.await("<ended 130>") // cancelled, before the new one begins
	if said := term.await("<ended 2>"); !strings.Contains(said, "cancelled the loop of this folder (at iteration 1)") || !strings.Contains(said, "new\r\n") {
		t.Errorf("got %q", said)
	}
}

func TestAStartAsksAboutTheLoopThatFailed(t *testing.T) {
	inFolderWithAgent(t)
	failed := runsAt(t, `ralph-lsp run --output console --max-failures 1 --backend "$AGENT" --backend-arg say=x --backend-arg fail=broken Old task`)
	failed.await("fix the cause, then ralph-lsp resume, or start anew with run --replace")
	failed.await("<ended 1>")
	term := runsAt(t, runsNew)
	term.await(asksLeft)
	term.types("\n")
	if said := term.await("<ended 1>"); !strings.HasSuffix(terminal.Line(said), "nothing was started; to go on with the loop of this folder: ralph-lsp resume") {
		t.Errorf("got %q", said)
	}
	term = runsAt(t, runsNew)
	term.await(asksLeft)
	term.types("y\n")
	if said := term.await("<ended 2>"); !strings.Contains(said, "new\r\n") {
		t.Errorf("got %q", said)
	}
}
