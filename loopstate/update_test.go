package loopstate

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func TestAnUpdate(t *testing.T) {
	f := open(t, t.TempDir())
	write(t, f, "\uFEFF---\r\niteration: 1\r\n# comment\r\n---\r\nGo.\r\n")
	s, err := f.Update(func(s *State) error { s.Active, s.Iteration = false, 2; return nil })
	if err != nil || s.Iteration != 2 || s.Prompt != "Go.\r\n" {
		t.Errorf("state %+v, %v", s, err)
	}
	wantText(t, f, "\uFEFF---\r\nactive: false\r\niteration: 2\r\n# comment\r\n---\r\nGo.\r\n")
	info, err := os.Stat(f.Path())
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v, want 0600", info.Mode(), err)
	}
	onlyTheStateFile(t, f)
}

func TestAnUpdateThatChangesNothingWritesNothing(t *testing.T) {
	f := open(t, t.TempDir())
	write(t, f, "---\n---\nGo.")
	before, _ := os.Stat(f.Path())
	must.OK(t, must.Err(f.Update(func(s *State) error { s.Active = true; return nil })))
	stop := errors.New("stop")
	if _, err := f.Update(func(s *State) error { s.Active = false; return stop }); err != stop {
		t.Errorf("error %v, want the change's own", err)
	}
	after, _ := os.Stat(f.Path())
	if !os.SameFile(before, after) {
		t.Error("the file was replaced")
	}
	wantText(t, f, "---\n---\nGo.")
}

// edits are the ways to save a new text.
var edits = map[string]func(path, text string) error{
	"in place": func(path, text string) error { return os.WriteFile(path, []byte(text), 0o600) },
	"by renaming": func(path, text string) error {
		if err := os.WriteFile(path+"~", []byte(text), 0o600); err != nil {
			return err
		}
		return os.Rename(path+"~", path)
	},
}

func TestAnEditWhileTheStateChangesIsKept(t *testing.T) {
	for how, edit := range edits {
		t.Run(how, func(t *testing.T) {
			f := open(t, t.TempDir())
			write(t, f, "---\nloop_id: "+how+"\nmax_iterations: 5\n---\nGo.")
			edited := false
			s, err := f.Update(func(s *State) error {
				if !edited {
					edited = true
					edit(f.Path(), "---\nloop_id: "+how+"\nmax_iterations: 9 # more\n---\nGo on.")
				}
				s.Model, s.Queued = "m", append(s.Queued, "once")
				return nil
			})
			if err != nil || *s.MaxIterations != 9 || s.Prompt != "Go on." || len(s.Queued) != 1 {
				t.Errorf("state %+v, %v", s, err)
			}
			wantText(t, f, "---\nloop_id: "+how+"\nmodel: \"m\"\nmax_iterations: 9 # more\n---\nGo on.")
			os.Remove(f.Path() + "~")
			onlyTheStateFile(t, f)
		})
	}
}

func TestAnEditorThatMovedTheFileAwayIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, t.TempDir())
		write(t, f, "---\nmodel: a\n---\nGo.")
		isMoved := false
		_, err := f.Update(func(s *State) error {
			if s.Model = "m"; !isMoved {
				isMoved = true
				go func() {
					time.Sleep(settleTime / 2)
					os.WriteFile(f.Path(), []byte("---\nmodel: a\n---\nGo on."), 0o600)
				}()
				return os.Rename(f.Path(), f.Path()+"~")
			}
			return nil
		})
		must.OK(t, err)
		wantText(t, f, "---\nmodel: \"m\"\n---\nGo on.")
	})
}

func TestADeletedFileStaysDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, t.TempDir())
		write(t, f, "---\n---\nGo.")
		_, err := f.Update(func(s *State) error {
			s.Model = "m"
			return os.Remove(f.Path())
		})
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error %v, want fs.ErrNotExist", err)
		}
		if entries, err := os.ReadDir(filepath.Dir(f.Path())); err != nil || len(entries) > 0 {
			t.Errorf("left behind: %v, %v", entries, err)
		}
	})
}

// An update of a long prompt takes a few copies of it, not one for each look.
func TestAnUpdateTakesLittleMemory(t *testing.T) {
	f := open(t, t.TempDir())
	const size = 8 << 20
	must.OK(t, f.Create(State{Prompt: strings.Repeat("0123456789abcde\n", size/16)}))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	must.OK(t, must.Err(f.Update(func(s *State) error { s.Model = "m"; return nil })))
	runtime.ReadMemStats(&after)
	if copies := float64(after.TotalAlloc-before.TotalAlloc) / size; copies > 5.5 { // read, parsed, written, checked, read again
		t.Errorf("%.1f copies", copies)
	}
}
