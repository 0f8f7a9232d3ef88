package loopstate

import (
	"errors"
	"io/fs"
	"testing"
	"time"
)

// A process that has ended and isn't waited for yet is none.
func TestProcessStartOfAZombie(t *testing.T) {
	p := start(t, "wait", t.TempDir())
	if _, err := ProcessStart(p.Process.Pid); err != nil {
		t.Fatal(err)
	}
	p.stdin.Close()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		_, err := ProcessStart(p.Process.Pid)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("after its end: %v, want fs.ErrNotExist", err)
		}
	}
}
