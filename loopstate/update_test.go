package loopstate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Both ways to write: with files exchanged, and where that can't be done.
func bothWays(t *testing.T, test func(t *testing.T, f *File)) {
	t.Run("exchange", func(t *testing.T) { test(t, open(t, t.TempDir())) })
	t.Run("rename", func(t *testing.T) {
		f := open(t, t.TempDir())
		f.exchange = func(a, b string) error { return errors.ErrUnsupported }
		test(t, f)
	})
}

func TestAnUpdate(t *testing.T) {
	bothWays(t, func(t *testing.T, f *File) {
		write(t, f, "\uFEFF---\r\niteration: 1\r\n# comment\r\n---\r\nGo.\r\n")
		s, err := f.Update(func(s *State) error { s.Iteration = 2; return nil })
		if err != nil || s.Iteration != 2 || s.Prompt != "Go.\r\n" {
			t.Errorf("state %+v, %v", s, err)
		}
		wantText(t, f, "\uFEFF---\r\niteration: 2\r\n# comment\r\n---\r\nGo.\r\n")
		info, err := os.Stat(f.Path())
		if err != nil || info.Mode() != 0o600 {
			t.Errorf("mode %v, %v, want 0600", info.Mode(), err)
		}
		onlyTheStateFile(t, f)
	})
}

func TestAnUpdateThatChangesNothingWritesNothing(t *testing.T) {
	f := open(t, t.TempDir())
	write(t, f, "---\n---\nGo.")
	before, _ := os.Stat(f.Path())
	if _, err := f.Update(func(s *State) error { s.Active = true; return nil }); err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	if _, err := f.Update(func(s *State) error { s.Iteration = 5; return stop }); err != stop {
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
			bothWays(t, func(t *testing.T, f *File) {
				write(t, f, "---\niteration: 1\nmax_iterations: 5\n---\nGo.")
				edited := false
				s, err := f.Update(func(s *State) error {
					if !edited {
						edited = true
						edit(f.Path(), "---\niteration: 1\nmax_iterations: 9 # more\n---\nGo on.")
					}
					s.Iteration = 2
					return nil
				})
				if err != nil || s.MaxIterations != 9 || s.Prompt != "Go on." {
					t.Errorf("state %+v, %v", s, err)
				}
				wantText(t, f, "---\niteration: 2\nmax_iterations: 9 # more\n---\nGo on.")
				os.Remove(f.Path() + "~")
				onlyTheStateFile(t, f)
			})
		})
	}
}

// The narrowest moments: between the last look at the file and the exchange,
// and between an exchange and its undoing.
func TestEditsAtTheExchangeAreKept(t *testing.T) {
	for how, edit := range edits {
		for moments := 1; moments <= 3; moments++ {
			t.Run(fmt.Sprintf("%s, %d times", how, moments), func(t *testing.T) {
				f := open(t, t.TempDir())
				write(t, f, "---\niteration: 1\n---\nGo 0.")
				exchanges := 0
				f.exchange = func(a, b string) error {
					if exchanges < moments {
						exchanges++
						if err := edit(f.Path(), fmt.Sprintf("---\niteration: 1\n---\nGo %d.", exchanges)); err != nil {
							return err
						}
					}
					return exchangeFiles(a, b)
				}
				if _, err := f.Update(func(s *State) error { s.Iteration = 2; return nil }); err != nil {
					t.Fatal(err)
				}
				wantText(t, f, fmt.Sprintf("---\niteration: 2\n---\nGo %d.", moments))
				onlyTheStateFile(t, f)
			})
		}
	}
}

func TestAnEditorThatIsWritingKeepsItsFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, t.TempDir())
		write(t, f, "---\niteration: 1\n---\nGo.")
		began := false
		f.exchange = func(a, b string) error {
			if began {
				return exchangeFiles(a, b)
			}
			began = true
			editor, err := os.OpenFile(f.Path(), os.O_WRONLY|os.O_TRUNC, 0)
			if err != nil {
				return err
			}
			go func() {
				defer editor.Close()
				time.Sleep(settleTime / 2)
				editor.WriteString("---\niteration: 1\n---\nGo on.")
			}()
			return exchangeFiles(a, b)
		}
		if _, err := f.Update(func(s *State) error { s.Iteration = 2; return nil }); err != nil {
			t.Fatal(err)
		}
		wantText(t, f, "---\niteration: 2\n---\nGo on.")
	})
}

func TestAnEditorThatMovedTheFileAwayIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, t.TempDir())
		write(t, f, "---\niteration: 1\n---\nGo.")
		f.exchange = func(a, b string) error {
			f.exchange = exchangeFiles
			if err := os.Rename(f.Path(), f.Path()+"~"); err != nil {
				return err
			}
			go func() {
				time.Sleep(settleTime / 2)
				os.WriteFile(f.Path(), []byte("---\niteration: 1\n---\nGo on."), 0o600)
			}()
			return exchangeFiles(a, b)
		}
		if _, err := f.Update(func(s *State) error { s.Iteration = 2; return nil }); err != nil {
			t.Fatal(err)
		}
		wantText(t, f, "---\niteration: 2\n---\nGo on.")
	})
}

func TestADeletedFileStaysDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, t.TempDir())
		for _, exchange := range []func(a, b string) error{
			exchangeFiles,
			func(a, b string) error { return errors.ErrUnsupported },
			func(a, b string) error { // deleted at the last moment
				os.Remove(f.Path())
				return exchangeFiles(a, b)
			},
			func(a, b string) error { // edited, then deleted before the edit is put back
				os.WriteFile(f.Path(), []byte("edit"), 0o600)
				f.exchange = func(a, b string) error {
					os.Remove(f.Path())
					return exchangeFiles(a, b)
				}
				return exchangeFiles(a, b)
			},
		} {
			f.exchange = exchange
			write(t, f, "---\niteration: 1\n---\nGo.")
			_, err := f.Update(func(s *State) error {
				s.Iteration = 2
				return os.Remove(f.Path())
			})
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("error %v, want fs.ErrNotExist", err)
			}
			if entries, err := os.ReadDir(filepath.Dir(f.Path())); err != nil || len(entries) > 0 {
				t.Errorf("left behind: %v, %v", entries, err)
			}
		}
	})
}

func TestNoUpdateIsLostBetweenProcesses(t *testing.T) {
	f := open(t, t.TempDir())
	if err := f.Create(State{Prompt: "Count."}); err != nil {
		t.Fatal(err)
	}
	other := start(t, "count up", f.folder)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if err := countUp(f.folder); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := other.Wait(); err != nil {
		t.Fatalf("the other process: %v, %s", err, other.stderr)
	}
	if s, err := f.Load(); err != nil || s.Iteration != 3*counts {
		t.Errorf("iteration %d, %v, want %d", s.Iteration, err, 3*counts)
	}
	onlyTheStateFile(t, f)
}
