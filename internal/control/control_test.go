package control

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestWhoAsksIsKnown(t *testing.T) {
	for name, dir := range map[string]string{"": t.TempDir(), "a long path": filepath.Join(t.TempDir(), strings.Repeat("long/", 40))} {
		var from int
		s, err := Serve(dir, "loop", func(pid int, request json.RawMessage) any {
			from = pid
			return map[string]json.RawMessage{"heard": request}
		})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if info, err := os.Stat(filepath.Dir(s.Path)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
			t.Errorf("%s: its folder is %v, %v", name, info.Mode(), err)
		}
		var answer struct{ Heard string }
		if err := Ask(t.Context(), s.Path, "hello", &answer); err != nil || answer.Heard != "hello" || from != os.Getpid() {
			t.Errorf("%s: it answers %+v to %d, %v", name, answer, from, err)
		}
		s.Close()
		if err := Ask(t.Context(), s.Path, "hello", &answer); !errors.Is(err, ErrNobody) {
			t.Errorf("%s: closed, it says %v", name, err)
		}
	}
}

// Who never answers is given up when the caller wants that, and one that is killed leaves nothing.
func TestWhoDoesNotAnswer(t *testing.T) {
	dir, never := t.TempDir(), make(chan struct{})
	defer close(never)
	s, err := Serve(dir, "loop", func(int, json.RawMessage) any { <-never; return nil })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, cancel)
	if err := Ask(ctx, s.Path, "hello", new(any)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	s.listener.Close() // as when it is killed
	long := time.Now().Add(-2 * settled)
	if err := os.Chtimes(s.Path, long, long); err != nil {
		t.Fatal(err)
	}
	other, err := Serve(dir, "other", func(int, json.RawMessage) any { return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := os.Stat(s.Path); err == nil {
		t.Error("the socket of who is gone is still there")
	}
}
