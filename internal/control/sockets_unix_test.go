//go:build unix

package control

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// The next process that serves a socket takes the one away that a killed process has left, and so does anybody who
// serves another one in the folder that all loops share.
func TestWhoIsKilledLeavesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "control")
	path := filepath.Join(dir, "loop"+suffix)
	killed := func() {
		s, err := Serve(path, func(int, json.RawMessage) any { return nil }, nil)
		must.OK(t, err)
		s.listener.open.Close() // as when it is killed
		close(s.listener.closed)
	}
	killed()
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its folder is %v, %v", info.Mode(), err)
	}
	killed()
	sweep(dir)
	if _, err := os.Stat(path); err != nil {
		t.Error("one that may just be about to be served is gone", err)
	}
	long := time.Now().Add(-2 * settled)
	must.OK(t, os.Chtimes(path, long, long))
	sweep(dir)
	if _, err := os.Stat(path); err == nil {
		t.Error("the socket of who is gone is still there")
	}
}

func init() { keepEvery = 20 * time.Millisecond }

// The state folder may be removed while a loop runs: who asks finds it all the same.
func TestASocketThatWasRemovedIsMadeAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "control")
	s, err := Serve(filepath.Join(dir, "loop"), func(int, json.RawMessage) any { return "here" }, nil)
	must.OK(t, err)
	for range 2 {
		must.OK(t, os.RemoveAll(filepath.Dir(dir)))
		proctest.Until(t, "it answers again", func() bool {
			var said string
			return Ask(t.Context(), s.Path, "where?", &said) == nil && said == "here"
		})
	}
	s.Close()
	s.Close() // one that was abandoned may be back
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("left behind: %v", entries)
	}
}
