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

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
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
		if err := errors.Join(os.MkdirAll(filepath.Join(e.Folder, ".pi"), 0o700), registry.Set(e)); err != nil {
			t.Fatal(err)
		}
	}
	for _, limit := range []int{0, 100, 200, 0} { // what a state file says; 0: there is none
		for i := range loops {
			file := filepath.Join(dir, strconv.Itoa(i), ".pi", "ralph-loop.local.md")
			if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			if limit > 0 {
				if err := os.WriteFile(file, text(i, limit+i), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		seen := new(Service).Loops()
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
					if err := errors.Join(os.MkdirAll(e.Folder, 0o700), registry.Set(e)); err != nil {
						t.Fatal(err)
					}
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
