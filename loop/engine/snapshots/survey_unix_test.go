//go:build unix

package snapshots

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// A first snapshot that takes long says how far it is. A cancel ends it at once, with the git that reads the files, and
// nothing of it stays.
func TestACancelEndsAFirstSnapshot(t *testing.T) {
	folder, books, bin := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	testhome.Git(t, folder, "init", "-q") // with the real one
	hangs := "#!/bin/sh\ncase \"$*\" in *update-index*) exec sleep 3600;; esac\nPATH=${PATH#*:} exec git \"$@\"\n"
	must.OK(t, os.WriteFile(filepath.Join(bin, "git"), []byte(hangs), 0o700))
	for i := range 3 {
		must.OK(t, os.WriteFile(filepath.Join(folder, fmt.Sprint(i)), make([]byte, 1000), 0o600))
	}
	told := make(chan string, 100)
	s := &Taker{Survey: func(text string) { told <- text }}
	s.Open(folder, func(string) {})
	s.Begin("ralph-a", changes.Options{Keep: time.Hour, Dir: books}, nil, func() {}, func() {})
	for text := range told {
		if text == "0 of 3 files, 0 B of 3.0 kB" {
			break
		}
		if text != "which files there are" {
			t.Fatalf("it says %q", text)
		}
	}
	began := time.Now()
	s.Hurry(loop.StopCancelled, backends.Grace)
	<-s.begun
	if took := time.Since(began); took > 20*time.Second { // it would have gone on for 45 s
		t.Errorf("it took %v", took)
	}
	for text := range told { // that it is over
		if text == "" {
			break
		}
	}
	if s.Close(); s.Store != nil {
		t.Error("there are snapshots")
	}
	left, _ := filepath.Glob(filepath.Join(folder, ".git", "objects", "tmp_*"))
	if locks, _ := filepath.Glob(filepath.Join(books, "*", "*.lock")); len(left)+len(locks) > 0 {
		t.Errorf("left behind: %q", strings.Join(append(left, locks...), " "))
	}
}
