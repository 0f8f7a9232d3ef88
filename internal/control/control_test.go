package control

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func TestWhoAsksIsKnown(t *testing.T) {
	for name, dir := range map[string]string{"": t.TempDir(), "a long path": filepath.Join(t.TempDir(), strings.Repeat("long/", 40))} {
		var from int
		s, err := Serve(filepath.Join(dir, "loop"), func(pid int, request json.RawMessage) any {
			from = pid
			return map[string]json.RawMessage{"heard": request}
		}, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
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

// Who never answers is given up when the caller wants that.
func TestWhoDoesNotAnswer(t *testing.T) {
	dir, never := t.TempDir(), make(chan struct{})
	defer close(never)
	s, err := Serve(filepath.Join(dir, "loop"), func(int, json.RawMessage) any { <-never; return nil }, nil)
	must.OK(t, err)
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, cancel)
	if err := Ask(ctx, s.Path, "hello", new(any)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
