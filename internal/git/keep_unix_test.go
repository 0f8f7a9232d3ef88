//go:build unix

package git

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A git that is ended takes along what it has started, such as the checkout of a worktree:
// else that would go on writing files when nobody is there who would take them away.
func TestAGitThatIsEndedTakesItsChildrenAlong(t *testing.T) {
	program := filepath.Join(t.TempDir(), "git")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nsleep 300 &\necho begun >&3\nwait\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	alive, lock, err := os.Pipe() // it has an end when nobody holds the lock
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := Git{Program: program, Lock: lock}.Run(ctx, nil, "worktree")
		done <- err
	}()
	if _, err := io.ReadFull(alive, make([]byte, len("begun\n"))); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; err == nil {
		t.Error("it ended well")
	}
	lock.Close()
	if err := alive.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := alive.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("something that it started goes on: %v", err)
	}
}
