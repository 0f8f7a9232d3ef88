package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
)

// Every end but a promise and its user's word leaves a loop that can go on.
func TestAnEndLeavesALoopThatCanGoOn(t *testing.T) {
	for name, tt := range map[string]struct {
		configure func(*setup.Config)
		run       run
		why       loop.StopReason
		goesOn    bool
	}{
		"at a limit":            {func(c *setup.Config) { c.Limits.MaxIterations = 1 }, says("no"), loop.StopMaxIterations, true},
		"without money":         {func(c *setup.Config) { c.Limits.MaxCostUSD = 1 }, costs(2, "no"), loop.StopMaxCost, true},
		"without an agent":      {func(c *setup.Config) { c.Limits.MaxFailures = 1 }, run{silent: true, code: 1}, loop.StopBackendError, true},
		"with a kept promise":   {nil, says("<promise>DONE</promise>"), loop.StopPromise, false},
		"for the other program": {func(c *setup.Config) { c.Once, c.Limits.MaxIterations = true, 1 }, says("no"), loop.StopMaxIterations, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := start(t, tt.configure, tt.run)
				end := r.Wait()
				folder := r.cfg.Folder
				if end.Reason != tt.why {
					t.Fatalf("it ended by %s", end.Reason)
				}
				st, err := loop.FolderStatus(folder)
				if !tt.goesOn {
					if !errors.Is(err, fs.ErrNotExist) {
						t.Errorf("there is %+v, %v", st, err)
					}
					return
				}
				if err != nil || st.Owner != nil || st.State != loop.StateEnded || st.StopReason != tt.why || !st.CanGoOn() || st.EndedAt.IsZero() || st.Last == nil || st.Last.Iterations != end.Iterations {
					t.Errorf("got %+v, %v", st, err)
				}
				if err := loop.DiscardFolder(folder, "ralph-other"); !errors.Is(err, loop.ErrNotRunning) {
					t.Errorf("another loop is discarded: %v", err)
				}
				if _, err := loop.CancelFolder(context.Background(), folder, st.LoopID); err != nil {
					t.Error(err)
				}
				if err := loop.DiscardFolder(folder, ""); !errors.Is(err, loop.ErrNotRunning) {
					t.Errorf("it is discarded twice: %v", err)
				}
				if _, _, err := loop.StateIn(folder); !errors.Is(err, loop.ErrNothingToGoOn) {
					t.Errorf("it goes on: %v", err)
				}
				if last, ok := loop.LastIn(folder); !ok || last.Reason != tt.why || !last.Status.GivenUp {
					t.Errorf("how it ended is forgotten: %+v", last)
				}
			})
		})
	}
}

// Where the registry can't be written, as on a full disk, the state file stays.
func TestALoopWhoseEndCannotBeKeptStays(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must.OK(t, os.WriteFile(file, nil, 0o600))
	t.Setenv(paths.EnvState, file)
	bubble(t, func(t *testing.T) {
		r := start(t, func(c *setup.Config) { c.Limits.MaxIterations = 2 }, says("no"))
		end := r.over(loop.StopMaxIterations, 2)
		left, err := r.file.Load()
		if err != nil || left.Iteration != 3 || !left.Active || end.Status.State != loop.StateInterrupted || !end.Status.CanGoOn() || !r.log.has("how the loop ended isn't kept") {
			t.Errorf("the file says %+v, %v; the loop is %s\n%s", left, err, end.Status.State, strings.Join(r.log.lines, "\n"))
		}
	})
}

// What somebody else put there is no loop, and keeps none from starting.
func TestAPlantedStateIsNothing(t *testing.T) {
	for _, state := range []string{"garbage", "---\nactive: [\n---\nx", "---\nactive: true\n---\n\n"} {
		folder := t.TempDir()
		must.OK(t, registry.Set(registry.Entry{LoopID: "ralph-a", Folder: paths.Real(folder), End: []byte(`{"stopReason":"max_iterations"}`), State: state}))
		if _, _, err := loop.StateIn(folder); !errors.Is(err, loop.ErrNothingToGoOn) {
			t.Errorf("%q: %v", state, err)
		}
		if _, err := loop.FolderStatus(folder); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", state, err)
		}
	}
}

// Several processes may take a loop up that ended: one does, behind its last iteration.
func TestALoopThatEndedIsTakenUpOnce(t *testing.T) {
	c := setup.Config{Folder: t.TempDir(), Storage: setup.Storage{History: history.Options{Folder: t.TempDir()}}, Prompt: "Count",
		Limits: limits.Default()}
	c.Backend = shell("agent", "echo x >>runs; echo no", backends.PromptStdin).Backend
	c.Limits.MaxIterations = 2
	runToEnd(t, c, loop.StopMaxIterations)
	again := setup.Config{Folder: c.Folder, Storage: setup.Storage{History: c.Storage.History}, Backend: c.Backend, Continue: true,
		Change: loop.Patch{Given: limits.Given{MaxIterations: new(4)}}}
	var wg sync.WaitGroup
	outcomes := make(chan string, 4)
	for range cap(outcomes) {
		wg.Go(func() {
			l, err := drive(again, setup.Host{}, &watcher{})
			switch {
			case err == nil:
				outcomes <- fmt.Sprint(l.Wait().Iterations)
			case errors.As(err, new(*loop.AlreadyRunningError)), errors.As(err, new(*loop.CapError)): // it runs, or it has
				outcomes <- ""
			default:
				outcomes <- err.Error()
			}
		})
	}
	wg.Wait()
	close(outcomes)
	var all string
	for o := range outcomes {
		all += o
	}
	if runs := readText(t, filepath.Join(c.Folder, "runs")); all != "4" || runs != "x\nx\nx\nx\n" {
		t.Errorf("got %q, runs %q", all, runs)
	}
}

// What is left of a loop in a folder that was moved or deleted is known, and goes nowhere else.
func TestALoopWhoseFolderIsGone(t *testing.T) {
	c := setup.Config{Folder: filepath.Join(t.TempDir(), "here"), Storage: setup.Storage{History: history.Options{Folder: t.TempDir()}},
		Prompt: "Count", Limits: limits.Default()}
	must.OK(t, os.Mkdir(c.Folder, 0o700))
	c.Backend = shell("agent", "echo no", backends.PromptStdin).Backend
	c.Limits.MaxIterations = 1
	l, _ := runToEnd(t, c, loop.StopMaxIterations)
	moved := c.Folder + "-moved"
	must.OK(t, os.Rename(c.Folder, moved))
	if _, err := loop.FolderStatus(moved); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the moved folder has it: %v", err)
	}
	if e, ok := registry.Find(l.ID()); !ok || e.Folder != paths.Real(c.Folder) {
		t.Errorf("got %+v %v", e, ok)
	}
}
