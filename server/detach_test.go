package server

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/journal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// keeps goes on with loops as their keeper does, in this process.
func keeps(t *testing.T) Keep {
	return func(folder, loopID string, trusted bool) error {
		go func() {
			for begun := time.Now(); ; proctest.Pause(begun) {
				if st, _ := loop.FolderStatus(folder); st.Owner == nil {
					break
				}
			}
			found, err := start.FoundIn(folder)
			if err != nil || found.LoopID != loopID {
				return // it is over
			}
			files := config.FilesOf(folder, backends.Names())
			files.Trusted = trusted
			settings, err := files.Load()
			if err != nil {
				t.Error(err)
			}
			cfg, err := start.Resolver{Settings: settings, Attended: true, Detect: start.Installed}.Continue(t.Context(), found, files)
			if err != nil {
				t.Error(err)
			}
			cfg.Folder, cfg.Alone = folder, true
			if l, _, err := journal.Start(cfg, setup.Host{}, nobody{}); err != nil {
				t.Error(err)
			} else {
				t.Cleanup(l.Cancel)
			}
		}()
		return nil
	}
}

func isAlone(l wire.LoopStatus) bool {
	return l.Detached && !l.Owned && l.State == "running" && !slices.Contains(l.Can, wire.CanDetach)
}

// A loop that is detached is told as one of another process, and ended as such.
func TestALoopGoesOnWithoutItsEditor(t *testing.T) {
	t.Parallel()
	for name, isKept := range map[string]bool{"kept from its start": true, "behind its iteration": false} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c := dialWith(t, Options{Keep: keeps(t)}, optedIn, dir)
			p := map[string]any{"prompt": "Build X", "backend": agentThat(t, "waits"), "maxIterations": 2}
			if isKept {
				p["onClose"] = "keep"
			}
			started := result[wire.StartResult](c, c.Command(wire.CommandStart, p))
			if !isKept {
				c.status(dir, func(l wire.LoopStatus) bool { return l.State == "running" && slices.Contains(l.Can, wire.CanDetach) })
				if r := result[wire.LoopResult](c, c.Command(wire.CommandDetach, wire.LoopParams{})); r.Text != wire.DetachText(1) {
					t.Errorf("%+v", r)
				}
				c.status(dir, func(l wire.LoopStatus) bool { return l.Owned && !slices.Contains(l.Can, wire.CanDetach) })
				writeFile(t, filepath.Join(dir, "go"), "")
			}
			c.status(dir, isAlone)
			if l := c.status(dir, isAlone); l.LoopID != started.LoopID {
				t.Errorf("%s goes on, not %s", l.LoopID, started.LoopID)
			}
			if r := result[wire.LoopResult](c, c.Command(wire.CommandDetach, wire.LoopParams{})); r.Text != wire.DetachText(0) {
				t.Errorf("%+v", r)
			}
			os.Remove(filepath.Join(dir, "go"))
			c.Must(c.Command(wire.CommandCancel, wire.LoopParams{LoopID: started.LoopID}))
			c.statusWithout(dir)
		})
	}
}

// Where nobody can go on, the loop is there to be resumed, and the user hears why.
func TestALoopThatNobodyCanGoOnWith(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := dialWith(t, Options{Keep: func(string, string, bool) error { return errors.New("no process to spare") }}, optedIn, dir)
	c.Must(c.Command(wire.CommandStart, map[string]any{"prompt": "Build X", "backend": agentThat(t, "waits"), "onClose": "keep"}))
	c.Hears("window/showMessage", "it doesn't go on alone: no process to spare")
	c.status(dir, func(l wire.LoopStatus) bool {
		return l.State == "interrupted" && slices.Contains(l.Can, wire.CanResume)
	})
}
