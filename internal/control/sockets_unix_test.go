//go:build unix

package control

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
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
	s.listener.UnixListener.Close() // as when it is killed
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
