package stamp

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// A change that keeps size and time is one, and so is another file of the same size and time.
func TestTracesOfWindows(t *testing.T) {
	dir, err := os.MkdirTemp("", "traces ü ")
	must.OK(t, err)
	defer os.RemoveAll(dir)
	name, other := filepath.Join(dir, "a file"), filepath.Join(dir, "another")
	then := time.Now().Add(-time.Hour)
	write := func(name, text string) {
		t.Helper()
		must.OK(t, errors.Join(os.WriteFile(name, []byte(text), 0o600), os.Chtimes(name, then, then)))
	}
	look := func() Trace {
		t.Helper()
		got, err := TraceOf(name)
		must.OK(t, err)
		return got
	}
	write(name, "one")
	first := look()
	if first.Size != 3 || first.IsDir || first.Modified != then.Truncate(100).UnixNano() || time.Since(time.Unix(0, first.Changed)).Abs() > time.Minute {
		t.Errorf("it is %+v", first)
	}
	if look() != first {
		t.Error("a look changes it")
	}
	write(name, "two")
	second := look()
	if second == first || second.File != first.File || second.Modified != first.Modified {
		t.Errorf("a change isn't seen: %+v, %+v", first, second)
	}
	write(other, "two")
	must.OK(t, os.Rename(other, name))
	if third := look(); third.File == second.File {
		t.Errorf("another file isn't seen: %+v", third)
	}
	if got, err := TraceOf(dir); err != nil || !got.IsDir {
		t.Errorf("a folder is %+v, %v", got, err)
	}
	if _, err := TraceOf(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
}
