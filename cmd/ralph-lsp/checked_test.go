package main

import (
	"bytes"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// fullDisk takes nothing.
type fullDisk struct{ err error }

func (d fullDisk) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "/dev/stdout", Err: d.err}
}

// No command loses its output and counts as done.
func TestOutputThatIsLostIsAnError(t *testing.T) {
	newUser(t)
	must.Write(t, "stream", "text\n")
	idle := [][]string{
		{"status"}, {"status", "--json"}, {"version"}, {"--version"}, {"help"}, {"help", "run"}, {"doctor", "--json"}, {"cancel"},
		{"history"}, {"decode", "--format", "text", "stream"}, {"trust", "--forget"}, {"completion", "bash"},
	}
	for _, args := range idle {
		var errs bytes.Buffer
		code := execute(args, strings.NewReader(""), fullDisk{syscall.ENOSPC}, &errs)
		if want := "ralph-lsp: writing the output: no space left on device\n"; code != terminal.ExitFailed || errs.String() != want {
			t.Errorf("%q: exit code %d, %q, want 1 and %q", args, code, errs.String(), want)
		}
	}
}

// What a command fails of stays what is said.
func TestAFailureOutweighsLostOutput(t *testing.T) {
	newUser(t)
	must.Write(t, loopstate.Name, brokenState)
	var errs bytes.Buffer
	code := execute([]string{"doctor"}, strings.NewReader(""), fullDisk{syscall.ENOSPC}, &errs)
	if code != terminal.ExitFailed || !strings.Contains(errs.String(), "found, marked") {
		t.Errorf("exit code %d, %q", code, errs.String())
	}
}

// A reader that has seen enough doesn't change how a loop ended.
func TestAReaderThatHasSeenEnough(t *testing.T) {
	out := terminal.Checked(fullDisk{syscall.EPIPE})
	out.Write([]byte("text"))
	cancelled := &exitError{code: terminal.ExitCancelled}
	if err := judge(out, cancelled); err != cancelled {
		t.Errorf("a cancelled loop: %v", err)
	}
	if err := judge(out, nil); err == nil {
		t.Error("a command that is done: no error")
	}
}
