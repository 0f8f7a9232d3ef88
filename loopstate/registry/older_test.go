//go:build unix

package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// olderFiles are as an earlier version has left them: a loop's entry, what it counts, and its journal. "" is none.
type olderFiles struct{ entry, counts, journal string }

func (o olderFiles) plant(t *testing.T, dir, folder, id string, age time.Duration) {
	t.Helper()
	sum := sha256.Sum256([]byte(id))
	name := filepath.Join(dir, paths.LoopName(folder, id))
	at := time.Now().Add(-age)
	must.OK(t, os.MkdirAll(filepath.Join(dir, "journals"), 0o700))
	for path, text := range map[string]string{
		name + ".json": o.entry, name + ".state": o.counts, filepath.Join(dir, "journals", hex.EncodeToString(sum[:16])+".jsonl"): o.journal,
	} {
		if text != "" {
			must.OK(t, os.WriteFile(path, []byte(text), 0o600))
			must.OK(t, os.Chtimes(path, at, at))
		}
	}
}

func olderLoop(folder, id string, changed time.Time) olderFiles {
	return olderFiles{
		entry:   fmt.Sprintf(`{"version":1,"loopId":%q,"folder":%q,"title":"Build it","iteration":3,"startedAt":"2026-01-02T12:00:00Z","changedAt":%q,"state":"state"}`, id, folder, changed.Format(time.RFC3339Nano)),
		counts:  fmt.Sprintf(`{"loopId":%q,"folder":%q,"state":{"iteration":3,"costUsd":1.5}}`, id, folder),
		journal: "the story of " + id,
	}
}

// What an earlier version has left is taken over: nothing that a loop has spent or told is lost.
func TestLoopsOfAnEarlierVersionAreTakenOver(t *testing.T) {
	dir := inHome(t)
	ago := time.Now().Add(-time.Hour).UTC()
	olderLoop("/w/app", "ralph-a", ago).plant(t, dir, "/w/app", "ralph-a", time.Hour)
	olderFiles{counts: olderLoop("/w/lib", "ralph-counts", ago).counts}.plant(t, dir, "/w/lib", "ralph-counts", 2*time.Hour)
	olderFiles{journal: "nobody's"}.plant(t, dir, "", "ralph-lost", 0)
	must.OK(t, must.Err(Dir("/w/app", "x")))
	a, ok, err := Get("/w/app", "ralph-a")
	if !ok || err != nil || a.Title != "Build it" || a.State != "state" || a.Iteration != 3 || string(a.Counts) != `{"iteration":3,"costUsd":1.5}` || !a.ChangedAt.Equal(ago) {
		t.Errorf("%+v, %v", a, err)
	}
	if e, ok, _ := Get("/w/lib", "ralph-counts"); !ok || string(e.Counts) != `{"iteration":3,"costUsd":1.5}` || time.Since(e.ChangedAt) < time.Hour {
		t.Errorf("one of which only its counts are known: %+v %v", e, ok)
	}
	for id, want := range map[string]string{"ralph-a": "the story of ralph-a", "ralph-lost": "nobody's"} {
		its, err := DirOf(id)
		must.OK(t, err)
		if data, err := os.ReadFile(filepath.Join(its, JournalName)); string(data) != want {
			t.Errorf("the journal of %s is %q, %v", id, data, err)
		}
	}
	if left := slices.DeleteFunc(names(t, dir), func(name string) bool { return len(name) == len(paths.LoopName("", "")) }); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A program of an earlier version may still run, and write its files.
func TestWhatAnEarlierVersionWritesLater(t *testing.T) {
	for name, tt := range map[string]struct {
		age  time.Duration // of what it writes
		want string
	}{
		"is newer": {0, `{"iteration":3,"costUsd":1.5}`},
		"is older": {2 * time.Hour, `{"iteration":9}`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := inHome(t)
			aged(t, Entry{LoopID: "ralph-a", Folder: "/w/app", Counts: []byte(`{"iteration":9}`)}, time.Hour)
			olderLoop("/w/app", "ralph-a", time.Now().Add(-tt.age)).plant(t, dir, "/w/app", "ralph-a", tt.age)
			delete(taken, dir) // by another process
			if e, _, err := Get("/w/app", "ralph-a"); err != nil || string(e.Counts) != tt.want {
				t.Errorf("%s, %v", e.Counts, err)
			}
		})
	}
}

// What isn't understood, or can't be moved, stays where it is.
func TestWhatIsNotTakenOver(t *testing.T) {
	later := olderLoop("/w/app", "ralph-a", time.Now())
	later.counts = `{"version":2,` + later.counts[1:]
	laterEntry := olderLoop("/w/app", "ralph-a", time.Now())
	laterEntry.entry = `{"version":2,` + laterEntry.entry[len(`{"version":1,`):]
	for name, files := range map[string]olderFiles{
		"a later version's counts": later, "a later version's entry": laterEntry,
		"another loop's": olderLoop("/w/app", "ralph-z", time.Now()), "garbage": {entry: "{{", counts: "x"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := inHome(t)
			files.journal = ""
			files.plant(t, dir, "/w/app", "ralph-a", 0)
			before := names(t, dir)
			if _, ok, err := Get("/w/app", "ralph-a"); ok || err != nil {
				t.Errorf("it is taken over: %v %v", ok, err)
			}
			before = slices.DeleteFunc(before, func(name string) bool { return name == "journals" }) // empty
			if now := names(t, dir); !slices.Equal(before, now) {
				t.Errorf("was %v, is %v", before, now)
			}
		})
	}
	t.Run("a journal where there is one", func(t *testing.T) {
		dir := inHome(t)
		must.OK(t, Set(Entry{LoopID: "ralph-a", Folder: "/w/app"}))
		its, _ := Dir("/w/app", "ralph-a")
		must.OK(t, os.WriteFile(filepath.Join(its, JournalName), []byte("its own"), 0o600))
		olderFiles{journal: "older"}.plant(t, dir, "/w/app", "ralph-a", 0)
		delete(taken, dir)
		_, _, _ = Get("/w/app", "ralph-a")
		if data, _ := os.ReadFile(filepath.Join(its, JournalName)); string(data) != "its own" {
			t.Errorf("it is %q", data)
		}
	})
}

func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must.OK(t, err)
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// What is kept of a loop moves with the folder that its user moves, its journal too.
func TestALoopMoves(t *testing.T) {
	inHome(t)
	must.OK(t, Set(ended("ralph-a", "/w/app", "state")))
	from, _ := Dir("/w/app", "ralph-a")
	must.OK(t, os.WriteFile(filepath.Join(from, JournalName), []byte("told"), 0o600))
	e, _ := Find("ralph-a")
	must.OK(t, Move(e, "/w/elsewhere"))
	if e, ok := Last("/w/elsewhere"); !ok || e.State != "state" {
		t.Errorf("it is %+v %v", e, ok)
	}
	if _, ok := Last("/w/app"); ok {
		t.Error("it is still there")
	}
	to, _ := DirOf("ralph-a")
	if data, err := os.ReadFile(filepath.Join(to, JournalName)); string(data) != "told" {
		t.Errorf("its journal: %q, %v", data, err)
	}
}

// A loop's id means the copy that was written to last.
func TestTheFolderOfACopy(t *testing.T) {
	inHome(t)
	if dir, err := DirOf("ralph-a"); err == nil {
		t.Errorf("nobody's is %s", dir)
	}
	aged(t, ended("ralph-a", "/w/app", ""), time.Minute)
	aged(t, ended("ralph-a", "/w/copy", ""), time.Hour)
	want, _ := Dir("/w/app", "ralph-a")
	if dir, err := DirOf("ralph-a"); err != nil || dir != want {
		t.Errorf("%s, %v; want %s", dir, err, want)
	}
}

func TestCountsAreDropped(t *testing.T) {
	inHome(t)
	aged(t, Entry{LoopID: "ralph-a", Folder: "/w/app", Title: "Build it", Counts: []byte(`{}`)}, time.Hour)
	must.OK(t, DropCounts("/w/app", "ralph-a"))
	if e, ok, err := Get("/w/app", "ralph-a"); !ok || err != nil || e.Counts != nil || e.Title == "" || time.Since(e.ChangedAt) < time.Hour {
		t.Errorf("%+v %v %v", e, ok, err)
	}
	must.OK(t, DropCounts("/w/app", "ralph-z"))
}
