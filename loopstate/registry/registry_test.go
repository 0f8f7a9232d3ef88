//go:build unix

package registry

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// inHome gives a test a state folder, and returns that of the registry.
func inHome(t *testing.T) string {
	t.Helper()
	t.Setenv(paths.EnvState, t.TempDir())
	dir, err := paths.Loops()
	must.OK(t, err)
	return dir
}

func ended(id, path, state string) Entry {
	return Entry{LoopID: id, Folder: path, Title: "Build it", StartedAt: time.Now(), EndedAt: time.Now(), Iteration: 3, End: []byte(`{"stopReason":"max_iterations"}`), State: state}
}

func TestALoopIsKnownByItsFolderAndItsID(t *testing.T) {
	dir := inHome(t)
	must.OK(t, Set(Entry{LoopID: "ralph-a", Folder: "/w/app"}))
	if e, ok := Last("/w/app"); !ok || e.End != nil || e.LoopID != "ralph-a" {
		t.Errorf("while it runs: %+v %v", e, ok)
	}
	must.OK(t, Set(ended("ralph-a", "/w/app", "state")))
	must.OK(t, Set(ended("ralph-b", "/w/lib", "")))
	if e, ok := Find("ralph-a"); !ok || e.Folder != "/w/app" || e.State != "state" || e.Iteration != 3 {
		t.Errorf("by its id: %+v %v", e, ok)
	}
	if all, _ := All(); len(all) != 2 || all[0].LoopID != "ralph-b" {
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
	must.OK(t, Set(ended("ralph-a", "/w/app", "state")))
	must.OK(t, Set(Entry{LoopID: "ralph-b", Folder: "/w/app"}))
	Supersede("/w/app", "ralph-b")
	if e, _ := Last("/w/app"); e.LoopID != "ralph-b" {
		t.Errorf("the last one is %s", e.LoopID)
	}
	if e, ok := Find("ralph-a"); !ok || e.State != "" || e.End == nil {
		t.Errorf("the one before: %+v %v", e, ok)
	}
	must.OK(t, Set(ended("ralph-b", "/w/app", "state")))
	e, _ := Last("/w/app")
	must.OK(t, GiveUp(e))
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
			must.OK(t, Set(e))
			path := filepath.Join(dir, e.name())
			if name == "a folder" {
				must.OK(t, os.Remove(path))
			}
			must.OK(t, plant(path))
			if got, ok := Last(e.Folder); ok {
				t.Errorf("got %+v", got)
			}
			if all, _ := All(); len(all) != 0 {
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
	must.OK(t, Set(e))
	must.OK(t, replace(filepath.Join(dir, e.name()), `{"version"`, `{"counters":{"x":1},"version"`))
	if got, ok := Last("/w/app"); !ok || got.State != "state" {
		t.Errorf("got %+v %v", got, ok)
	}
}

func TestWhatCannotBeWrittenIsTold(t *testing.T) {
	home := t.TempDir()
	t.Setenv(paths.EnvState, filepath.Join(home, "file"))
	must.OK(t, os.WriteFile(filepath.Join(home, "file"), nil, 0o600))
	if err := Set(ended("ralph-a", "/w/app", "state")); err == nil {
		t.Error("nothing is told")
	}
	if _, ok := Last("/w/app"); ok {
		t.Error("it is known")
	}
}

const day = 24 * time.Hour

// aged writes a loop that was driven last so long ago.
func aged(t *testing.T, e Entry, age time.Duration) {
	t.Helper()
	e.ChangedAt = time.Now().Add(-age)
	must.OK(t, write(e))
}

// Without a session, old ones go: those that can go on, and whose folder is there, later.
func TestOldOnesGo(t *testing.T) {
	inHome(t)
	here := t.TempDir()
	for id, tt := range map[string]struct {
		e    Entry
		age  time.Duration
		kept bool
	}{
		"ralph-young":    {ended("ralph-young", "/gone", ""), 6 * day, true},
		"ralph-old":      {ended("ralph-old", here, ""), 8 * day, false},
		"ralph-open":     {ended("ralph-open", here, "state"), 8 * day, true},
		"ralph-nowhere":  {ended("ralph-nowhere", "/gone", "state"), 8 * day, false},
		"ralph-too-old":  {ended("ralph-too-old", here, "state"), 31 * day, false},
		"ralph-needed":   {ended("ralph-needed", here, ""), 31 * day, true},
		"ralph-at-work":  {Entry{LoopID: "ralph-at-work", Folder: here}, 20 * day, true},
		"ralph-at-work2": {Entry{LoopID: "ralph-at-work2", Folder: "/gone"}, 20 * day, false},
	} {
		t.Run(id, func(t *testing.T) {
			aged(t, tt.e, tt.age)
			all, _ := All()
			lists := slices.ContainsFunc(all, func(e Entry) bool { return e.LoopID == id })
			if id != "ralph-needed" && lists != tt.kept {
				t.Errorf("it is listed: %v", lists)
			}
			must.OK(t, Prune(0, 0, func(e Entry) bool { return e.LoopID == "ralph-needed" }))
			if _, ok := Find(id); ok != tt.kept {
				t.Errorf("kept: %v, want %v", ok, tt.kept)
			}
		})
	}
}

func TestNotMoreAreListedThanMayBe(t *testing.T) {
	inHome(t)
	for i := range maxEntries + 20 {
		must.OK(t, Set(ended(fmt.Sprintf("ralph-%d", i), "/w/app", "")))
	}
	if all, _ := All(); len(all) != maxEntries || all[0].LoopID != fmt.Sprintf("ralph-%d", maxEntries+19) {
		t.Errorf("%d are listed, the first is %+v", len(all), all[0])
	}
	if n := len(slices.Collect(In("/w/app"))); n != maxEntries+20 {
		t.Errorf("%d are known", n)
	}
}

// A loop's folder is there before its file, and is listed as soon as it has one.
func TestALoopThatBegins(t *testing.T) {
	inHome(t)
	its, err := Dir("/w/app", "ralph-a")
	must.OK(t, err)
	must.OK(t, os.MkdirAll(its, 0o700))
	l := new(Look)
	if all, _ := l.All(); len(all) > 0 {
		t.Errorf("listed are %+v", all)
	}
	must.OK(t, Set(Entry{LoopID: "ralph-a", Folder: "/w/app"}))
	if _, last := l.All(); last["/w/app"].LoopID != "ralph-a" {
		t.Error("it isn't listed")
	}
}

// A loop of long ago that goes on makes no folder: who looks again and again sees it when all files are looked at.
func TestALoopOfLongAgoGoesOn(t *testing.T) {
	inHome(t)
	synctest.Test(t, func(t *testing.T) {
		old := ended("ralph-old", "/w/app", "")
		must.OK(t, Set(old))
		old, _ = Find("ralph-old")
		aged(t, old, keepOpen)
		l := new(Look)
		isSeen := func() bool {
			all, _ := l.All()
			return len(all) > 0
		}
		if isSeen() {
			t.Error("it is listed, though it is over for long")
		}
		must.OK(t, Set(ended("ralph-old", "/w/app", "")))
		if time.Sleep(scanEvery); !isSeen() {
			t.Error("it isn't listed")
		}
	})
}

// withSession is a loop that ended so long ago and has a session of a kilobyte.
func withSession(t *testing.T, id, dir string, age time.Duration) Entry {
	t.Helper()
	e := ended(id, "/gone", "")
	e.SessionFile = filepath.Join(dir, id+".jsonl")
	must.OK(t, os.MkdirAll(dir, 0o700))
	must.OK(t, os.WriteFile(e.SessionFile, make([]byte, 1000), 0o600))
	writtenTo(t, e, age)
	aged(t, e, age)
	e, _ = Find(id)
	return e
}

func writtenTo(t *testing.T, e Entry, age time.Duration) {
	t.Helper()
	at := time.Now().Add(-age)
	must.OK(t, os.Chtimes(e.SessionFile, at, at))
}

func TestHistoryIsBounded(t *testing.T) {
	for name, tt := range map[string]struct {
		keep  time.Duration
		bytes int64
		want  string
	}{
		"by nothing":  {0, 0, "[ralph-1 ralph-5 ralph-8 ralph-9]"},
		"by its age":  {5*day - time.Hour, 0, "[ralph-1 ralph-8]"},
		"at its age":  {8 * day, 0, "[ralph-1 ralph-5 ralph-8]"},
		"by its size": {0, 2000, "[ralph-1 ralph-5 ralph-8]"},
		"by both":     {2 * day, 4000, "[ralph-1 ralph-8]"},
		"by a lot":    {10 * day, 4000, "[ralph-1 ralph-5 ralph-8 ralph-9]"},
	} {
		t.Run(name, func(t *testing.T) {
			inHome(t)
			dir := filepath.Join(t.TempDir(), "--w-app--")
			for _, age := range []int{9, 1, 8, 5} {
				withSession(t, fmt.Sprintf("ralph-%d", age), dir, time.Duration(age)*day)
			}
			must.OK(t, Prune(tt.keep, tt.bytes, func(e Entry) bool { return e.LoopID == "ralph-8" }))
			var left []string
			for e := range Everything() {
				if _, ok := e.Session(); ok {
					left = append(left, e.LoopID)
				}
			}
			if got := fmt.Sprint(left); got != tt.want {
				t.Errorf("kept are %s, want %s", got, tt.want)
			}
			if files, _ := os.ReadDir(dir); len(files) != len(left) {
				t.Errorf("%d files are left of %d loops", len(files), len(left))
			}
		})
	}
}

// Where its user went on in pi, a session isn't ours to remove. The folder of the last one goes with it.
func TestOnlyOurHistoryIsRemoved(t *testing.T) {
	inHome(t)
	dir := filepath.Join(t.TempDir(), "--w-app--")
	own, theirs := withSession(t, "ralph-a", dir, 3*day), withSession(t, "ralph-b", dir, 4*day)
	writtenTo(t, theirs, 3*day)
	must.OK(t, Prune(time.Hour, 1, func(Entry) bool { return false }))
	if _, ok := Find("ralph-a"); ok {
		t.Error("our own is known still")
	}
	if _, err := os.Stat(own.SessionFile); err == nil {
		t.Error("our own is there still")
	}
	if e, ok := Find("ralph-b"); !ok {
		t.Error("theirs isn't known any more")
	} else if _, ok := e.Session(); !ok {
		t.Error("theirs is gone")
	}
	writtenTo(t, theirs, 4*day)
	must.OK(t, theirs.ForgetSession())
	if _, err := os.Stat(dir); err == nil {
		t.Error("the folder is there still")
	}
	must.OK(t, theirs.ForgetSession())
}

// What is kept of a loop goes with it, its journal and a socket that nobody serves any more too.
func TestALoopsFolderGoesWithIt(t *testing.T) {
	dir := inHome(t)
	aged(t, ended("ralph-a", "/gone", ""), 8*day)
	its, _ := Dir("/gone", "ralph-a")
	for _, name := range []string{JournalName, SocketName} {
		must.OK(t, os.WriteFile(filepath.Join(its, name), nil, 0o600))
	}
	must.OK(t, Prune(0, 0, func(Entry) bool { return false }))
	if left := names(t, dir); len(left) > 0 {
		t.Errorf("left is %v", left)
	}
	must.OK(t, os.MkdirAll(its, 0o700))
	must.OK(t, os.WriteFile(filepath.Join(its, JournalName), nil, 0o600))
	must.OK(t, os.WriteFile(filepath.Join(its, SocketName), nil, 0o600))
	Tidy(its)
	if left := names(t, its); len(left) != 2 {
		t.Errorf("left beside a journal is %v", left)
	}
	must.OK(t, os.Remove(filepath.Join(its, JournalName)))
	Tidy(its)
	if left := names(t, dir); len(left) > 0 {
		t.Errorf("left of an empty one is %v", left)
	}
}

// A copy of a folder has the same loop. The one that was driven last is meant.
func TestTheLoopOfACopy(t *testing.T) {
	inHome(t)
	aged(t, ended("ralph-a", "/w/app", ""), time.Hour)
	aged(t, ended("ralph-a", "/w/copy", ""), time.Minute)
	if e, ok := Find("ralph-a"); !ok || e.Folder != "/w/copy" {
		t.Errorf("got %+v %v", e, ok)
	}
}

// BenchmarkIn looks for what 10,000 loops of a folder have left.
func BenchmarkIn(b *testing.B) {
	b.Setenv(paths.EnvState, b.TempDir())
	for i := range 10_000 {
		e := ended(fmt.Sprintf("ralph-%d", i), "/w/app", "")
		e.Prompt = strings.Repeat("Build it well. ", 60)
		must.OK(b, Set(e))
	}
	for name, limit := range map[string]int{"all": 10_000, "50": 50, "last": 1} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				n := 0
				for range In("/w/app") {
					if n++; n == limit {
						break
					}
				}
				if n != limit {
					b.Fatal(n)
				}
			}
		})
	}
}
