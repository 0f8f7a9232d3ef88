//go:build unix

package sentry

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// A git has a bound of its own, which may be an hour for a huge checkout.
func TestTimeOfGitDoesNotCount(t *testing.T) {
	dir := t.TempDir()
	pipe, script := filepath.Join(dir, "pipe"), filepath.Join(dir, "git")
	must.OK(t, syscall.Mkfifo(pipe, 0o600))
	must.OK(t, os.WriteFile(script, []byte("#!/bin/sh\ncat "+pipe+"\n"), 0o700))
	s := Sentry{}
	s.Begin(Calls{})
	s.tick()
	before := s.left
	ended := make(chan error)
	go func() {
		_, err := git.Git{Program: script, Dir: dir}.Layout(context.Background())
		ended <- err
	}()
	open, err := os.OpenFile(pipe, os.O_WRONLY, 0) // once it reads
	must.OK(t, err)
	s.tick()
	if s.left != before || before != WorkLimit-Tick {
		t.Errorf("%v are left of %v", s.left, before)
	}
	open.Close()
	must.OK(t, <-ended)
	if s.tick(); s.left != before-Tick {
		t.Errorf("without a git %v are left of %v", s.left, before)
	}
}
