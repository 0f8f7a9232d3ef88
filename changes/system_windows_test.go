package changes

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A change that keeps size and time is one, and so is another file of the same size and time.
func TestTracesOfWindows(t *testing.T) {
	dir, err := os.MkdirTemp("", "traces ü ")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name, other := filepath.Join(dir, "a file"), filepath.Join(dir, "another")
	then := time.Now().Add(-time.Hour)
	write := func(name, text string) {
		t.Helper()
		if err := errors.Join(os.WriteFile(name, []byte(text), 0o600), os.Chtimes(name, then, then)); err != nil {
			t.Fatal(err)
		}
	}
	look := func() trace {
		t.Helper()
		got, err := traceOf(name)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	write(name, "one")
	first := look()
	if first.size != 3 || first.isDir || first.modified != then.Truncate(100).UnixNano() || time.Since(time.Unix(0, first.changed)).Abs() > time.Minute {
		t.Errorf("it is %+v", first)
	}
	if look() != first {
		t.Error("a look changes it")
	}
	write(name, "two")
	second := look()
	if second == first || second.file != first.file || second.modified != first.modified {
		t.Errorf("a change isn't seen: %+v, %+v", first, second)
	}
	write(other, "two")
	if err := os.Rename(other, name); err != nil {
		t.Fatal(err)
	}
	if third := look(); third.file == second.file {
		t.Errorf("another file isn't seen: %+v", third)
	}
	if got, err := traceOf(dir); err != nil || !got.isDir {
		t.Errorf("a folder is %+v, %v", got, err)
	}
	if _, err := traceOf(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
}

// The system refuses to exchange a file that somebody reads; a kept one waits for its reader.
func TestAFileThatIsReadIsReplaced(t *testing.T) {
	dir, err := os.MkdirTemp("", "kept")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s := &kept{home: dir}
	if err := s.SaveNote("a", []byte("one")); err != nil {
		t.Fatal(err)
	}
	reader, err := os.Open(filepath.Join(s.home, "note-a"))
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, func() { reader.Close() })
	if err := s.SaveNote("a", []byte("two")); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(filepath.Join(s.home, "note-a")); err != nil || string(got) != "two" {
		t.Errorf("it is %q, %v", got, err)
	}
}
