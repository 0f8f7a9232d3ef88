//go:build unix

package registry

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
)

// inHome gives a test a state folder, and returns that of the registry.
func inHome(t *testing.T) string {
	t.Helper()
	t.Setenv(paths.EnvState, t.TempDir())
	dir, err := paths.Loops()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func ended(id, path, state string) Entry {
	return Entry{LoopID: id, Folder: path, Title: "Build it", StartedAt: time.Now(), EndedAt: time.Now(), End: &history.LoopEnd{StopReason: "max_iterations", Iterations: 3}, State: state}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestALoopIsKnownByItsFolderAndItsID(t *testing.T) {
	dir := inHome(t)
	must(t, Begin(Entry{LoopID: "ralph-a", Folder: "/w/app"}))
	if e, ok := Last("/w/app"); !ok || e.End != nil || e.LoopID != "ralph-a" {
		t.Errorf("while it runs: %+v %v", e, ok)
	}
	must(t, End(ended("ralph-a", "/w/app", "state")))
	must(t, End(ended("ralph-b", "/w/lib", "")))
	if e, ok := Find("ralph-a"); !ok || e.Folder != "/w/app" || e.State != "state" || e.End.Iterations != 3 {
		t.Errorf("by its id: %+v %v", e, ok)
	}
	if all := All(); len(all) != 2 || all[0].LoopID != "ralph-b" {
		t.Errorf("all: %+v", all)
	}
	if _, ok := Last("/w"); ok {
		t.Error("another folder has it")
	}
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, ended("ralph-a", "/w/app", "").name()): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
}

func TestAnotherLoopTakesTheFolder(t *testing.T) {
	inHome(t)
	must(t, End(ended("ralph-a", "/w/app", "state")))
	must(t, Begin(Entry{LoopID: "ralph-b", Folder: "/w/app"}))
	if e, _ := Last("/w/app"); e.LoopID != "ralph-b" {
		t.Errorf("the last one is %s", e.LoopID)
	}
	if e, ok := Find("ralph-a"); !ok || e.State != "" || e.End == nil {
		t.Errorf("the one before: %+v %v", e, ok)
	}
	must(t, End(ended("ralph-b", "/w/app", "state")))
	e, _ := Last("/w/app")
	must(t, GiveUp(e))
	if e, _ := Last("/w/app"); e.LoopID != "ralph-b" || e.State != "" || !e.GivenUp || e.End == nil {
		t.Errorf("given up: %+v", e)
	}
}

// What isn't a file of ours is no loop, and is left alone.
func TestWhatIsNoEntryIsNothing(t *testing.T) {
	e := ended("ralph-a", "/w/app", "state")
	for name, plant := range map[string]func(path string) error{
		"garbage":         func(path string) error { return os.WriteFile(path, []byte("\x00{{"), 0o600) },
		"torn":            func(path string) error { return os.Truncate(path, 40) },
		"empty":           func(path string) error { return os.Truncate(path, 0) },
		"a later version": func(path string) error { return replace(path, `"version":1`, `"version":9`) },
		"another folder":  func(path string) error { return replace(path, "/w/app", "/w/other") },
		"another loop":    func(path string) error { return replace(path, "ralph-a", "ralph-z") },
		"a folder":        func(path string) error { return os.Mkdir(path, 0o700) },
		"a link": func(path string) error {
			other := filepath.Join(t.TempDir(), "other")
			if err := os.Rename(path, other); err != nil {
				return err
			}
			return os.Symlink(other, path)
		},
		"a pipe": func(path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return syscall.Mkfifo(path, 0o600)
		},
		"huge": func(path string) error { return os.Truncate(path, maxSize+1) },
		"somebody else's": func(path string) error {
			if os.Geteuid() != 0 {
				return os.Remove(path) // nobody else can be had
			}
			return os.Chown(path, 4711, 4711)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := inHome(t)
			must(t, End(e))
			path := filepath.Join(dir, e.name())
			if name == "a folder" {
				must(t, os.Remove(path))
			}
			must(t, plant(path))
			if got, ok := Last(e.Folder); ok {
				t.Errorf("got %+v", got)
			}
			if all := All(); len(all) != 0 {
				t.Errorf("all: %+v", all)
			}
		})
	}
}

func replace(path, old, with string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(strings.Replace(string(data), old, with, 1)), 0o600)
}

func TestAKeyOfALaterProgramIsNoMatter(t *testing.T) {
	dir := inHome(t)
	e := ended("ralph-a", "/w/app", "state")
	must(t, End(e))
	must(t, replace(filepath.Join(dir, e.name()), `{"version"`, `{"counters":{"x":1},"version"`))
	if got, ok := Last("/w/app"); !ok || got.State != "state" {
		t.Errorf("got %+v %v", got, ok)
	}
}

func TestWhatCannotBeWrittenIsTold(t *testing.T) {
	home := t.TempDir()
	t.Setenv(paths.EnvState, filepath.Join(home, "file"))
	must(t, os.WriteFile(filepath.Join(home, "file"), nil, 0o600))
	if err := End(ended("ralph-a", "/w/app", "state")); err == nil {
		t.Error("nothing is told")
	}
	if _, ok := Last("/w/app"); ok {
		t.Error("it is known")
	}
}

// Old ones go with the next start: those that can go on, and whose folder is there, later.
func TestOldOnesGo(t *testing.T) {
	dir := inHome(t)
	here := t.TempDir()
	for id, tt := range map[string]struct {
		e    Entry
		age  time.Duration
		kept bool
	}{
		"ralph-young":    {ended("ralph-young", "/gone", ""), 6 * 24 * time.Hour, true},
		"ralph-old":      {ended("ralph-old", here, ""), 8 * 24 * time.Hour, false},
		"ralph-open":     {ended("ralph-open", here, "state"), 8 * 24 * time.Hour, true},
		"ralph-nowhere":  {ended("ralph-nowhere", "/gone", "state"), 8 * 24 * time.Hour, false},
		"ralph-too-old":  {ended("ralph-too-old", here, "state"), 31 * 24 * time.Hour, false},
		"ralph-at-work":  {Entry{LoopID: "ralph-at-work", Folder: here}, 20 * 24 * time.Hour, true},
		"ralph-at-work2": {Entry{LoopID: "ralph-at-work2", Folder: "/gone"}, 20 * 24 * time.Hour, false},
	} {
		t.Run(id, func(t *testing.T) {
			must(t, End(tt.e))
			path := filepath.Join(dir, tt.e.name())
			then := time.Now().Add(-tt.age)
			must(t, os.Chtimes(path, then, then))
			must(t, Begin(Entry{LoopID: "ralph-new", Folder: "/w/new"}))
			if _, err := os.Stat(path); (err == nil) != tt.kept {
				t.Errorf("kept: %v, want %v", err == nil, tt.kept)
			}
		})
	}
}

func TestThereAreNotMoreThanMayBe(t *testing.T) {
	inHome(t)
	for i := range maxEntries + 20 {
		must(t, End(ended(fmt.Sprintf("ralph-%d", i), "/w/app", "")))
	}
	must(t, Begin(Entry{LoopID: "ralph-new", Folder: "/w/new"}))
	if n := len(entries("")); n > maxEntries {
		t.Errorf("%d are kept", n)
	}
	if _, ok := Find("ralph-new"); !ok {
		t.Error("the new one went")
	}
}
