package history

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
)

// keepLoops writes a loop's session for each age, in folders of their own below pi's.
func keepLoops(t *testing.T, days ...int) (o Options, cwd string) {
	t.Setenv(envAgentDir, t.TempDir())
	t.Setenv(envSessionDir, "")
	cwd = paths.Real(t.TempDir())
	for i, age := range days {
		w, err := NewWriter(o, fmt.Sprintf("%s/%d", cwd, i))
		if err != nil {
			t.Fatal(err)
		}
		w.HandleRecord(LoopStart{LoopID: fmt.Sprintf("ralph-%d", age)})
		w.HandleRecord(LoopEnd{StopReason: "promise"})
		touch(t, closed(t, w), age)
	}
	return o, cwd
}

func touch(t *testing.T, path string, days int) {
	at := time.Now().Add(-time.Duration(days)*24*time.Hour - time.Minute)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func keptOf(t *testing.T, o Options, cwd string) (ids []string) {
	t.Helper()
	all, err := Everywhere(o, cwd)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		ids = append(ids, s.Loop.LoopID)
	}
	return ids
}

func TestHistoryIsBounded(t *testing.T) {
	const day = 24 * time.Hour
	for name, tt := range map[string]struct {
		keep  time.Duration
		files int64 // that fit
		want  []string
	}{
		"by nothing":  {0, 0, []string{"ralph-1", "ralph-5", "ralph-8", "ralph-9"}},
		"by its age":  {5 * day, 0, []string{"ralph-1", "ralph-8"}},
		"at its age":  {8 * day, 0, []string{"ralph-1", "ralph-5", "ralph-8"}},
		"by its size": {0, 2, []string{"ralph-1", "ralph-5", "ralph-8"}},
		"by both":     {2 * day, 4, []string{"ralph-1", "ralph-8"}},
		"by a lot":    {10 * day, 4, []string{"ralph-1", "ralph-5", "ralph-8", "ralph-9"}},
	} {
		t.Run(name, func(t *testing.T) {
			o, cwd := keepLoops(t, 9, 1, 8, 5)
			all, _ := Everywhere(o, cwd)
			o.Keep, o.MaxBytes = tt.keep, tt.files*all[0].Size
			if err := Prune(o, cwd, func(s Stored) bool { return s.Loop.LoopID == "ralph-8" }); err != nil {
				t.Fatal(err)
			}
			if got := keptOf(t, o, cwd); !slices.Equal(got, tt.want) {
				t.Errorf("kept are %q, want %q", got, tt.want)
			}
		})
	}
}

// What pi wrote, and where its user went on in pi, isn't ours to remove.
func TestOnlyOurHistoryIsRemoved(t *testing.T) {
	o, cwd := keepLoops(t, 3, 4)
	all, err := Everywhere(o, cwd)
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	file, err := os.OpenFile(all[1].Path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(file, `{"type":"message","id":"m1","message":{"role":"user","content":"And now?"}}`)
	file.Close()
	touch(t, all[1].Path, 4)
	pis := filepath.Join(filepath.Dir(all[0].Path), "2026_pi.jsonl")
	if err := os.WriteFile(pis, []byte(`{"type":"session","id":"s1","cwd":"/"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	touch(t, pis, 4)
	if err := os.Symlink(pis, filepath.Join(filepath.Dir(pis), "link.jsonl")); err != nil {
		t.Fatal(err)
	}
	o.Keep = time.Hour
	if err := Prune(o, cwd, func(Stored) bool { return false }); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{all[0].Path: false, all[1].Path: true, pis: true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A loop that goes on meanwhile keeps its session; the folder of one that is gone goes with it.
func TestASessionThatIsWrittenToStays(t *testing.T) {
	o, cwd := keepLoops(t, 3, 4)
	all, err := Everywhere(o, cwd)
	if err != nil {
		t.Fatal(err)
	}
	touch(t, all[0].Path, 0)
	for i, isThere := range []bool{true, false} {
		if err := all[i].Forget(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Dir(all[i].Path)); (err == nil) != isThere {
			t.Errorf("the folder of %d: %v", i, err)
		}
	}
	if err := all[1].Forget(); err != nil {
		t.Errorf("again: %v", err)
	}
}
