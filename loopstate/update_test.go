package loopstate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
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
				if err != nil || *s.MaxIterations != 9 || s.Prompt != "Go on." {
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
	for eyes, lease := range leases {
		for moments := 1; moments <= 3; moments++ {
			t.Run(fmt.Sprintf("%s, %d times renamed", eyes, moments), func(t *testing.T) {
				t.Parallel()
				f := atExchanges(t, lease, moments, func(path string, i int) error {
					return edits["by renaming"](path, fmt.Sprintf("---\niteration: 1\n---\nGo %d.", i))
				})
				wantText(t, f, fmt.Sprintf("---\niteration: 2\n---\nGo %d.", moments))
				onlyTheStateFile(t, f)
			})
			t.Run(fmt.Sprintf("%s, %d times added", eyes, moments), func(t *testing.T) {
				t.Parallel()
				f := atExchanges(t, lease, moments, func(path string, i int) error {
					return addLine(path, fmt.Sprintf("line %d\n", i))
				})
				s, err := f.Load()
				if err != nil || s.Iteration != 2 {
					t.Errorf("state %+v, %v", s, err)
				}
				for i := 1; i <= moments; i++ {
					if strings.Count(s.Prompt, fmt.Sprintf("line %d\n", i)) != 1 {
						t.Errorf("line %d is not there once: %q", i, s.Prompt)
					}
				}
				onlyTheStateFile(t, f)
			})
		}
		t.Run(eyes+", in place", func(t *testing.T) {
			t.Parallel()
			f := atExchanges(t, lease, 1, func(path string, _ int) error {
				return edits["in place"](path, "---\niteration: 1\n# mine\n---\nGo on.")
			})
			wantText(t, f, "---\niteration: 2\n# mine\n---\nGo on.")
			onlyTheStateFile(t, f)
		})
	}
}

// Between the look and the exchange another file may come, and while that is
// undone another one: the newest stays, though all of them were seen.
func TestTheNewestOfSeveralFilesStays(t *testing.T) {
	for eyes, lease := range leases {
		t.Run(eyes, func(t *testing.T) {
			t.Parallel()
			f := open(t, t.TempDir())
			write(t, f, "---\niteration: 1\n---\nGo 0.")
			saves, looks, exchanges := 0, 0, 0
			save := func() {
				saves++
				if err := edits["by renaming"](f.Path(), fmt.Sprintf("---\niteration: 1\n---\nGo %d.", saves)); err != nil {
					t.Error(err)
				}
			}
			f.lease = func(file *os.File) error {
				if looks++; looks == 1 { // the file is open, but no more the one in the place
					save()
				}
				return lease(file)
			}
			f.exchange = func(a, b string) error {
				if exchanges++; exchanges == 2 {
					save()
				}
				return exchangeFiles(a, b)
			}
			if _, err := f.Update(func(s *State) error { s.Iteration = 2; return nil }); err != nil {
				t.Fatal(err)
			}
			f.Settle()
			wantText(t, f, fmt.Sprintf("---\niteration: 2\n---\nGo %d.", saves))
		})
	}
}

// leases are what the system may tell of who writes a file.
var leases = map[string]func(*os.File) error{
	"with leases":    takeLease,
	"without leases": func(*os.File) error { return errors.ErrUnsupported },
}

// atExchanges makes an update, and an edit of the file at each of its first
// exchanges. It returns when both are done.
func atExchanges(t *testing.T, lease func(*os.File) error, moments int, edit func(path string, i int) error) *File {
	t.Helper()
	f := open(t, t.TempDir())
	f.lease = lease
	write(t, f, "---\niteration: 1\n---\nGo.\n")
	var editors sync.WaitGroup
	exchanges := 0
	f.exchange = func(a, b string) error {
		if i := exchanges + 1; i <= moments {
			exchanges++
			beside(t, f, &editors, func() error { return edit(f.Path(), i) })
		}
		return exchangeFiles(a, b)
	}
	if _, err := f.Update(func(s *State) error { s.Iteration = 2; return nil }); err != nil {
		t.Fatal(err)
	}
	editors.Wait()
	f.Settle()
	return f
}

// beside starts an editor, and returns when it is done or waits for a lease.
func beside(t *testing.T, f *File, editors *sync.WaitGroup, edit func() error) {
	eye, err := os.Open(f.Path())
	if err != nil {
		t.Error(err)
		return
	}
	defer eye.Close()
	leased := f.lease(eye) == nil
	if leased {
		defer endLease(eye)
	}
	done := make(chan struct{})
	editors.Go(func() {
		defer close(done)
		if err := edit(); err != nil {
			t.Error(err)
		}
	})
	for !leased || !isAwaited(eye) {
		select {
		case <-done:
			return
		default:
			runtime.Gosched()
		}
	}
}

func addLine(path, line string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(line)
	return errors.Join(err, file.Close())
}

// A shell may have the file open for as long as it lives.
func TestAnUpdateDoesNotWaitForeverForAFileThatIsHeldOpen(t *testing.T) {
	for eyes, lease := range leases {
		t.Run(eyes, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := open(t, t.TempDir())
				f.lease = lease
				write(t, f, "---\niteration: 1\n---\nGo.\n")
				holder, err := os.OpenFile(f.Path(), os.O_WRONLY|os.O_APPEND, 0)
				if err != nil {
					t.Fatal(err)
				}
				for i := 2; i <= 3; i++ {
					if _, err := f.Update(func(s *State) error { s.Iteration = i; return nil }); err != nil {
						t.Fatal(err)
					}
				}
				for _, line := range []string{"line 1\n", "line 2\n"} {
					holder.WriteString(line)
					if eyes == "with leases" {
						time.Sleep(heldTime + 2*heldPoll) // until it is at rest
						wantEnd(t, f, line)
					}
				}
				holder.Close()
				f.Settle()
				wantText(t, f, "---\niteration: 3\n---\nGo.\nline 1\nline 2\n")
			})
		})
	}
}

func wantEnd(t *testing.T, f *File, want string) {
	t.Helper()
	if s, err := f.Load(); err != nil || !strings.HasSuffix(s.Prompt, want) {
		t.Errorf("the prompt is %q, %v, want %q at its end", s.Prompt, err, want)
	}
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
		f.Settle()
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
				edits["by renaming"](f.Path(), "edit")
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
			f.Settle()
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

func TestHasContent(t *testing.T) {
	long := strings.Repeat("0123456789abcde\n", 64<<10/16)
	for _, tt := range []struct {
		file, data string
		want       bool
	}{
		{"", "", true}, {"a", "", false}, {"", "a", false}, {"ab", "ab", true}, {"ab", "a", false}, {"a", "ab", false}, {"ab", "ac", false},
		{long, long, true}, {long + "a", long, false}, {long, long + "a", false}, {long + "a", long + "a", true},
		{long + "a", long + "b", false}, {long + long, long + long, true}, {long + long[1:] + "x", long + long, false}, {long + long, long, false},
	} {
		got, err := hasContent(strings.NewReader(tt.file), []byte(tt.data))
		if err != nil || got != tt.want {
			t.Errorf("%d bytes %.3q, asked for %d: %v, %v", len(tt.file), tt.file, len(tt.data), got, err)
		}
	}
	f := open(t, t.TempDir())
	write(t, f, long)
	if !holds(f.Path(), []byte(long)) || holds(f.Path(), []byte(long[1:])) || holds(f.Path()+"~", nil) || holds(f.folder, nil) {
		t.Error("of files")
	}
	file, err := os.Open(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	file.Close()
	if _, err := hasContent(file, []byte(long)); err == nil {
		t.Error("no error of a closed file")
	}
}

// An update of a long prompt takes a few copies of it, not one for each look.
func TestAnUpdateTakesLittleMemory(t *testing.T) {
	f := open(t, t.TempDir())
	const size = 8 << 20
	if err := f.Create(State{Prompt: strings.Repeat("0123456789abcde\n", size/16)}); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := f.Update(func(s *State) error { s.Iteration++; return nil }); err != nil {
		t.Fatal(err)
	}
	f.Settle()
	runtime.ReadMemStats(&after)
	if copies := float64(after.TotalAlloc-before.TotalAlloc) / size; copies > 4.5 { // read, parsed, written, checked
		t.Errorf("%.1f copies", copies)
	}
}
