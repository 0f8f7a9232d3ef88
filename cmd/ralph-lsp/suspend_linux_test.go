package main

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// Ctrl-Z gives the terminal back to the shell as it was; fg goes on with the
// live line, bg without one.
func TestCtrlZ(t *testing.T) {
	agent, err := exec.LookPath("fake-agent")
	must.OK(t, err)
	t.Chdir(t.TempDir())
	t.Setenv("PI_CODING_AGENT_DIR", t.TempDir())
	must.Write(t, "script.sh", `set -m
ralph-lsp run --max-iterations 1 --backend "`+agent+`" --backend-arg say=ready --backend-arg wait=go --backend-arg say=spoken --backend-arg hang=started Do it
ralph-lsp status; echo "<stopped>"; read _
bg; echo "<behind>"; read _
fg; echo "<ended $?>"
`)
	term := newTestTerminal(t, exec.Command("sh", "script.sh"))
	term.await("ready\r\n") // not while it is started: a child that is stopped before its exec holds us up
	term.await("Ralph 1/1")
	term.types("\x1a")
	if before := term.await("<stopped>"); !strings.Contains(before, "\r\x1b[J\x1b[?25h") {
		t.Errorf("the terminal isn't given back: %q", before)
	} else if strings.Contains(before, "suspended") || !strings.Contains(before, "the loop goes on without this terminal; ralph-lsp pause pauses it\r\n") {
		t.Errorf("the loop doesn't stop with its window: %q", before)
	}
	term.types("\n")
	term.await("<behind>")
	must.Write(t, "go", "")
	if behind := term.await("spoken\r\n"); strings.Contains(behind, "\x1b") {
		t.Errorf("in the background it does more than to print: %q", behind)
	}
	term.types("\n")
	term.await("\x1b[?25l")
	term.await("Ralph 1/1")
	term.types("\x03")
	term.await("<ended 130>")
}

// testTerminal is a pseudo-terminal with a shell.
type testTerminal struct {
	t    *testing.T
	ours *os.File

	mu   sync.Mutex
	text string // what came since the last await
	more chan struct{}
}

func newTestTerminal(t *testing.T, cmd *exec.Cmd) *testTerminal {
	t.Helper()
	cmd.Env = append(cmd.Environ(), "TERM=xterm", "NO_COLOR=1", "HOME="+t.TempDir(), "GORACE=atexit_sleep_ms=0")
	ours, theirs := openTerminal(t)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err := cmd.Start()
	theirs.Close()
	must.OK(t, err)
	term := &testTerminal{t: t, ours: ours, more: make(chan struct{}, 1)}
	go term.read()
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		ours.Close()
	})
	return term
}

// openTerminal returns both ends of a new pseudo-terminal of 24 x 80.
func openTerminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, theirs, err := pty.Open()
	if err == nil {
		err = pty.Setsize(ours, &pty.Winsize{Rows: 24, Cols: 80})
	}
	must.OK(t, err)
	return ours, theirs
}

func (term *testTerminal) read() {
	for buffer := make([]byte, 4096); ; {
		n, err := term.ours.Read(buffer)
		if err != nil {
			return
		}
		term.mu.Lock()
		term.text += string(buffer[:n])
		term.mu.Unlock()
		select {
		case term.more <- struct{}{}:
		default:
		}
	}
}

func (term *testTerminal) types(keys string) {
	term.t.Helper()
	must.OK(term.t, must.Err(term.ours.WriteString(keys)))
}

// await waits for a text, and returns what came before it.
func (term *testTerminal) await(text string) string {
	term.t.Helper()
	for late := time.After(deadline); ; {
		term.mu.Lock()
		before, after, found := strings.Cut(term.text, text)
		if found {
			term.text = after
		}
		term.mu.Unlock()
		if found {
			return before
		}
		select {
		case <-term.more:
		case <-late:
			term.t.Fatalf("no %q within %s, but %q", text, deadline, before)
		}
	}
}
