//go:build unix

package git

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// A git that is ended takes along what it has started, such as the checkout of a worktree:
// else that would go on writing files when nobody is there who would take them away.
func TestAGitThatIsEndedTakesItsChildrenAlong(t *testing.T) {
	for name, script := range map[string]string{
		"that end when they are asked": "sleep 300 &\necho begun >&3\nwait",
		"that are deaf":                "trap '' TERM\nsleep 300 &\necho begun >&3\nwait\nsleep 300",
	} {
		t.Run(name, func(t *testing.T) { endsAll(t, program(t, script)) })
	}
}

// program is a stand-in for git.
func program(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "git")
	const asked = "case \"$*\" in *--show-scope*) exit;; esac\n" // for its configuration
	must.OK(t, os.WriteFile(path, []byte("#!/bin/sh\n"+asked+script+"\n"), 0o755))
	return path
}

func endsAll(t *testing.T, program string) {
	t.Helper()
	alive, lock, err := os.Pipe() // it has an end when nobody holds the lock
	must.OK(t, err)
	defer alive.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := Git{Program: program, Lock: lock}.Run(ctx, nil, "worktree")
		done <- err
	}()
	must.OK(t, must.Err(io.ReadFull(alive, make([]byte, len("begun\n")))))
	cancel()
	if err := <-done; err == nil {
		t.Error("it ended well")
	}
	lock.Close()
	must.OK(t, alive.SetReadDeadline(time.Now().Add(proctest.Patience)))
	if _, err := alive.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("something that it started goes on: %v", err)
	}
}

// A daemon that a hook starts may keep git's pipes: what git did is done all the same.
func TestAGitWhosePipesAreKeptHasEndedWell(t *testing.T) {
	for name, keeps := range map[string]string{"for a while": "2", "for long": "300"} {
		pid := filepath.Join(t.TempDir(), "pid")
		stub := program(t, "echo printed\nsleep "+keeps+" &\necho $! >"+pid) // written before others fork, who would have it open
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := Git{Program: stub}.Run(t.Context(), nil, "status")
			if string(out) != "printed\n" || err != nil {
				t.Errorf("%q, %v", out, err)
			}
			data, _ := os.ReadFile(pid)
			if daemon, err := strconv.Atoi(strings.TrimSpace(string(data))); err == nil {
				syscall.Kill(daemon, syscall.SIGKILL)
			}
		})
	}
}
