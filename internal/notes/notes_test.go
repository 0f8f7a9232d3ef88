//go:build unix

package notes

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func TestNotesAreBounded(t *testing.T) {
	dir := t.TempDir()
	for i := range 1000 {
		must.OK(t, Add(t.Context(), dir, ".pi/notes.md", fmt.Sprintf("%04d %s", i, strings.Repeat("x", 94))))
	}
	for most, want := range map[int]int{MaxFile: 655, 8192: 81, 199: 1, 200: 2, 99: 0} {
		text, err := Read(dir, ".pi/notes.md", most)
		if lines := strings.Count(text, "\n"); err != nil || lines != want || want > 0 && !strings.HasPrefix(text, fmt.Sprintf("%04d x", 1000-want)) {
			t.Errorf("of %d bytes there are %d lines (%v), want %d: %.20q", most, lines, err, want, text)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, ".pi/notes.md")); err != nil || info.Size() > MaxFile {
		t.Error(info, err)
	}
}

func TestOneWritesAtATime(t *testing.T) {
	dir := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(dir, "n"), []byte("no end of line"), 0o600))
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if err := Add(t.Context(), dir, "n", "a note"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if text, err := Read(dir, "n", MaxFile); err != nil || text != "no end of line\n"+strings.Repeat("a note\n", 20) {
		t.Errorf("%q, %v", text, err)
	}
}

func TestOnlyAFileInTheFolderHasNotes(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	victim := filepath.Join(out, "victim")
	for _, err := range []error{
		os.WriteFile(victim, []byte("secret\n"), 0o600), os.Symlink(victim, at("link")), os.Symlink(out, at("away")), os.Symlink(filepath.Join(out, "new"), at("dangling")),
		os.Link(victim, at("hard")), syscall.Mkfifo(at("pipe"), 0o600), os.Mkdir(at("folder"), 0o700), os.Mkdir(at("real"), 0o700), os.Symlink("real", at("within")),
	} {
		must.OK(t, err)
	}
	for _, name := range []string{"link", "away/victim", "away/new", "dangling", "hard", "pipe", "folder", "../victim", victim, ""} {
		if err := Add(t.Context(), dir, name, "note"); err == nil {
			t.Errorf("%s was written to", name)
		}
		if text, err := Read(dir, name, MaxFile); name != "hard" && (text != "" || err == nil && name != "away/new" && name != "dangling") {
			t.Errorf("%s was read: %q, %v", name, text, err)
		}
	}
	if err := Add(t.Context(), dir, "within/n", "note"); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "secret\n" {
		t.Errorf("%q, %v", text, err)
	}
	if left, err := os.ReadDir(out); err != nil || len(left) != 1 {
		t.Error(left, err)
	}
}
