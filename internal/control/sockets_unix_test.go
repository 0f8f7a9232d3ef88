//go:build unix

package control

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

func TestWhoIsKilledLeavesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "control")
	s, err := Serve(dir, "loop", func(int, json.RawMessage) any { return nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its folder is %v, %v", info.Mode(), err)
	}
	s.listener.open.Close() // as when it is killed
	long := time.Now().Add(-2 * settled)
	if err := os.Chtimes(s.Path, long, long); err != nil {
		t.Fatal(err)
	}
	other, err := Serve(dir, "other", func(int, json.RawMessage) any { return nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := os.Stat(s.Path); err == nil {
		t.Error("the socket of who is gone is still there")
	}
}

// The state folder may be removed while a loop runs: who asks finds it all the same.
func TestASocketThatWasRemovedIsMadeAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "control")
	s, err := Serve(dir, "loop", func(int, json.RawMessage) any { return "here" }, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := os.RemoveAll(filepath.Dir(dir)); err != nil {
			t.Fatal(err)
		}
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
