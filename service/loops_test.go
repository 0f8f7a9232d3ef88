package service

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
)

// The list of all loops shows each as it is in its folder now: its user may change its state file, or remove it.
func TestAListOfLoopsIsNeverStale(t *testing.T) {
	t.Setenv(paths.EnvState, t.TempDir())
	dir := paths.Real(t.TempDir())
	text := func(loop, limit int) []byte {
		return fmt.Appendf(nil, "---\nactive: true\niteration: 4\nmax_iterations: %d\nloop_id: \"ralph-%d\"\n---\n\nBuild it\n", limit, loop)
	}
	const loops, ended = 40, 3
	for i := range loops {
		e := registry.Entry{LoopID: fmt.Sprintf("ralph-%d", i), Folder: filepath.Join(dir, strconv.Itoa(i)), EndedAt: time.Now(), End: []byte(`{"stopReason":"max_iterations"}`), State: string(text(i, ended))}
		must.OK(t, errors.Join(os.MkdirAll(filepath.Join(e.Folder, ".pi"), 0o700), registry.Set(e)))
	}
	again := new(Lister)
	for _, limit := range []int{0, 100, 200, 0} { // what a state file says; 0: there is none
		for i := range loops {
			file := filepath.Join(dir, strconv.Itoa(i), ".pi", "ralph-loop.local.md")
			if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			if limit > 0 {
				must.OK(t, os.WriteFile(file, text(i, limit+i), 0o600))
			}
		}
		seen := again.Loops()
		if diff := cmp.Diff(new(Service).Loops(), seen, cmpopts.IgnoreFields(loop.Status{}, "Elapsed")); diff != "" {
			t.Error(diff)
		}
		if len(seen) != loops {
			t.Fatalf("%d of %d loops are listed", len(seen), loops)
		}
		for _, s := range seen {
			i, err := strconv.Atoi(strings.TrimPrefix(s.LoopID, "ralph-"))
			if err != nil || s.Folder != filepath.Join(dir, strconv.Itoa(i)) {
				t.Errorf("%s is in %s", s.LoopID, s.Folder)
			}
			wantState, want := loop.StateEnded, ended
			if limit > 0 {
				wantState, want = loop.StateInterrupted, limit+i
			}
			if s.State != wantState || s.Limits.MaxIterations != want {
				t.Errorf("%s is %s with %d, want %s with %d", s.LoopID, s.State, s.Limits.MaxIterations, wantState, want)
			}
		}
	}
}

// Who lists again and again sees what others do meanwhile, and reads nothing that is as it was.
func TestAListerSeesWhatChanges(t *testing.T) {
	state := t.TempDir()
	t.Setenv(paths.EnvState, state)
	dir := paths.Real(t.TempDir())
	entry := func(id, prompt string) registry.Entry {
		return registry.Entry{LoopID: id, Folder: filepath.Join(dir, id), EndedAt: time.Now(), End: []byte(`{"stopReason":"max_iterations"}`),
			State: "---\nactive: true\niteration: 4\nloop_id: " + id + "\n---\n\n" + prompt + "\n"}
	}
	ok := func(errs ...error) {
		must.OK(t, errors.Join(errs...))
	}
	file := func(id string) string {
		return filepath.Join(state, "loops", paths.LoopName(filepath.Join(dir, id), id), registry.FileName)
	}
	l := new(Lister)
	for _, step := range []struct {
		name string
		do   func()
		want string // the id, state and title of each
	}{
		{"none", func() {}, ""},
		{"one", func() { ok(os.MkdirAll(filepath.Join(dir, "a"), 0o700), registry.Set(entry("a", "Build it"))) }, "a ended Build it"},
		{"another", func() { ok(os.MkdirAll(filepath.Join(dir, "b"), 0o700), registry.Set(entry("b", "Build it"))) }, "b ended Build it, a ended Build it"},
		{"what looks as it was isn't read", func() {
			info, err := os.Stat(file("a"))
			data, readErr := os.ReadFile(file("a"))
			ok(err, readErr, os.WriteFile(file("a"), []byte(strings.Replace(string(data), "Build", "BUILD", -1)), 0o600), os.Chtimes(file("a"), info.ModTime(), info.ModTime()))
		}, "b ended Build it, a ended Build it"},
		{"one is driven again", func() {
			ok(registry.Set(entry("a", "Mend it")))
		}, "a ended Mend it, b ended Build it"},
		{"one is discarded", func() {
			e, _ := registry.Find("a")
			ok(registry.GiveUp(e))
		}, "b ended Build it, a idle "},
		{"a state file is there", func() {
			ok(os.Mkdir(filepath.Join(dir, "b", ".pi"), 0o700), os.WriteFile(filepath.Join(dir, "b", ".pi", "ralph-loop.local.md"), []byte("---\nactive: true\niteration: 4\nloop_id: b\n---\n\nx\n"), 0o600))
		}, "b interrupted x, a idle "},
		{"it goes", func() { ok(os.Remove(filepath.Join(dir, "b", ".pi", "ralph-loop.local.md"))) }, "b ended Build it, a idle "},
		{"its folder goes", func() { ok(os.RemoveAll(filepath.Join(dir, "b"))) }, "a idle , b idle "},
		{"what is kept of one goes", func() { ok(os.RemoveAll(filepath.Dir(file("a")))) }, "b idle "},
	} {
		step.do()
		var seen []string
		for _, s := range l.Loops() {
			seen = append(seen, fmt.Sprint(s.LoopID, " ", s.State, " ", s.Title))
		}
		if got := strings.Join(seen, ", "); got != step.want {
			t.Errorf("%s: %q, want %q", step.name, got, step.want)
		}
	}
}

// The list of all loops costs as much for each, whether they have one folder or many.
func TestManyLoops(t *testing.T) {
	for name, folderOf := range map[string]func(loop int) string{
		"in one folder":    func(int) string { return "one" },
		"each in a folder": strconv.Itoa,
		"four in a folder": func(loop int) string { return strconv.Itoa(loop / 4) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(paths.EnvState, t.TempDir())
			dir := paths.Real(t.TempDir())
			cost := func(loops int) float64 {
				for i := range loops {
					e := registry.Entry{LoopID: fmt.Sprintf("ralph-%d", i), Folder: filepath.Join(dir, folderOf(i)), EndedAt: time.Now(), End: []byte(`{"stopReason":"max_iterations"}`)}
					must.OK(t, errors.Join(os.MkdirAll(e.Folder, 0o700), registry.Set(e)))
				}
				if n := len(new(Service).Loops()); n != loops {
					t.Fatalf("%d of %d loops are listed", n, loops)
				}
				return testing.AllocsPerRun(1, func() { new(Service).Loops() })
			}
			if few, many := cost(20), cost(160); many > 9*few {
				t.Errorf("160 loops take %.0f allocations, 20 take %.0f", many, few)
			}
		})
	}
}
