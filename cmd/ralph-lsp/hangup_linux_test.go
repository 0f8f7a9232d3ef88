package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// A kept loop goes on alone when its terminal is closed. That tells it more than once: bash tells its
// jobs, and the kernel the job in the foreground, some milliseconds later.
func TestAKeptLoopOutlivesItsTerminal(t *testing.T) {
	agent, err := exec.LookPath("fake-agent")
	insist(err)
	recording, err := filepath.Abs("../../testdata/pi/tool-bash.jsonl")
	insist(err)
	for _, tt := range []struct{ name, flags, shown string }{
		{"in a block of iterations", "--backend ./agent.sh --backend-output pi-stream-json", "iteration 2/"},
		{"in a long tool", "--backend '" + agent + "' --backend-arg say=ready --backend-arg hang=started", "ready\r\n"},
	} {
		for i := range 10 {
			t.Run(fmt.Sprint(tt.name, " ", i), func(t *testing.T) {
				t.Parallel()
				k := &keptLoop{t: t, dir: t.TempDir()}
				k.mark = "RALPH_HANGUP_TEST=" + k.dir
				k.env = append(os.Environ(), "PI_CODING_AGENT_DIR="+t.TempDir(), k.mark)
				t.Cleanup(func() { proctest.Kill(t, k.mark) })
				must.Write(t, filepath.Join(k.dir, "agent.sh"), "#!/bin/sh\nsleep 0.2\ncat '"+recording+"'\n")
				insist(os.Chmod(filepath.Join(k.dir, "agent.sh"), 0o700))
				must.Write(t, filepath.Join(k.dir, "loop.sh"), "ralph-lsp run Work --on-close keep --max-iterations 500 --max-unchanged-iterations 0 "+tt.flags+"\n")
				term := newTestTerminal(t, k.command("bash", "--norc", "-i"))
				term.types(". ./loop.sh\n")
				term.await(tt.shown)
				time.Sleep(time.Duration(i) * 30 * time.Millisecond) // another moment each time
				closeTwice(t, term)
				proctest.Until(t, "the loop goes on alone", func() bool {
					status := k.says("ralph-lsp", "status", "--json")
					if strings.Contains(status, `"state":"interrupted"`) {
						t.Fatalf("the loop doesn't go on: %.300s", status)
					}
					return strings.Contains(status, `"detached":true`) && strings.Contains(status, `"state":"running"`)
				})
				k.says("ralph-lsp", "cancel")
				proctest.CheckNone(t, deadline, k.mark)
			})
		}
	}
}

// keptLoop is a loop with processes that bear a mark.
type keptLoop struct {
	t    *testing.T
	dir  string
	env  []string
	mark string
}

func (k *keptLoop) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = k.dir, k.env
	return cmd
}

// says runs a program to its end, and returns what it says.
func (k *keptLoop) says(name string, args ...string) string {
	k.t.Helper()
	out, err := k.command(name, args...).CombinedOutput()
	if err != nil {
		k.t.Fatalf("%s %q: %v: %s", name, args, err, out)
	}
	return string(out)
}

// closeTwice closes the terminal of a shell, and tells the job in its foreground so a second time.
func closeTwice(t *testing.T, term *testTerminal) {
	t.Helper()
	raw, err := term.ours.SyscallConn()
	insist(err)
	var job int
	insist(raw.Control(func(fd uintptr) { job, err = unix.IoctlGetInt(int(fd), unix.TIOCGPGRP) }))
	insist(err)
	insist(term.ours.Close())
	time.Sleep(8 * time.Millisecond) // what is between the two of bash and of the kernel: an input of the test
	if err := syscall.Kill(-job, syscall.SIGHUP); err != nil && err != syscall.ESRCH {
		t.Fatal(err)
	}
}
