package loopstate

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func TestANewLoopsFile(t *testing.T) {
	f := open(t, t.TempDir())
	if _, err := f.Load(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before: %v, want fs.ErrNotExist", err)
	}
	want := readable["ours.md"]
	must.OK(t, f.Create(want))
	got, err := f.Load()
	must.OK(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := f.Create(State{Prompt: "other"}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second one: %v, want fs.ErrExist", err)
	}
	if got, _ := f.Load(); got.Prompt != want.Prompt {
		t.Error("a second one replaced the first")
	}
	info, err := os.Stat(f.Path())
	must.OK(t, err)
	if info.Mode() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode())
	}
	onlyTheStateFile(t, f)
}

func TestAStateThatCannotBeReadBackIsNotWritten(t *testing.T) {
	tests := []struct {
		name   string
		change func(*State)
		msg    string
	}{
		{"no prompt", func(s *State) { s.Prompt = " \n" }, "there is no prompt"},
		{"negative", func(s *State) { s.MaxIterations = new(-1) }, `max_iterations is "-1"`},
		{"year 10000", func(s *State) { s.StartedAt = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }, "started_at is"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := open(t, t.TempDir())
			s := State{Prompt: "Go."}
			tt.change(&s)
			wantError(t, f.Create(s), tt.msg)
			if _, err := os.Stat(filepath.Dir(f.Path())); !errors.Is(err, fs.ErrNotExist) {
				t.Error(".pi was made")
			}
			write(t, f, "---\n---\nGo.")
			_, err := f.Update(func(s *State) error { tt.change(s); return nil })
			wantError(t, err, tt.msg)
			if errors.As(err, new(*SyntaxError)) {
				t.Error("the error accuses the file")
			}
			wantText(t, f, "---\n---\nGo.")
			onlyTheStateFile(t, f)
		})
	}
}

func TestADamagedFileIsReportedAndLeftAlone(t *testing.T) {
	f := open(t, t.TempDir())
	const text = "---\niteration: abc\n---\nGo."
	write(t, f, text)
	_, loadErr := f.Load()
	_, updateErr := f.Update(func(*State) error { return nil })
	for _, err := range []error{loadErr, updateErr} {
		syntax, ok := errors.AsType[*SyntaxError](err)
		if !ok || syntax.File != f.Path() || syntax.Line != 2 {
			t.Errorf("error %v, want a *SyntaxError of %s:2", err, f.Path())
		}
		wantError(t, err, f.Path()+`:2: iteration is "abc"; write`)
	}
	wantText(t, f, text)
}

// How an editor saves, step by step with pauses, and whether that may be taken
// for an error or a deletion.
func TestAnEditorIsGivenTimeToSave(t *testing.T) {
	const saved = "---\niteration: 2\n---\nGo."
	tests := []struct {
		name string
		save func(path string)
	}{
		{"empties the file, then fills it", func(path string) {
			os.WriteFile(path, nil, 0o600)
			time.Sleep(settleTime / 2)
			os.WriteFile(path, []byte(saved), 0o600)
		}},
		{"moves the old file away, then writes a new one", func(path string) {
			os.Rename(path, path+"~")
			time.Sleep(settleTime / 2)
			os.WriteFile(path, []byte(saved), 0o600)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := open(t, t.TempDir())
				write(t, f, "---\niteration: 1\n---\nGo.")
				must.OK(t, must.Err(f.Load()))
				go tt.save(f.Path())
				time.Sleep(settleTime / 4)
				s, err := f.Load()
				if err != nil || s.Iteration != 2 {
					t.Errorf("iteration %d, %v, want 2", s.Iteration, err)
				}
			})
		})
	}
}

func TestNobodyWaitsForAnEditorThatIsNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		f := open(t, t.TempDir())
		f.Load()
		write(t, f, "damaged long ago")
		must.OK(t, os.Chtimes(f.Path(), time.Time{}, began.Add(-time.Hour)))
		f.Load()
		must.OK(t, f.Remove())
		f.Load()
		if waited := time.Since(began); waited != 0 {
			t.Errorf("waited %v", waited)
		}
	})
}

func TestRemoveTakesAwayWhatWasMade(t *testing.T) {
	t.Run("all of it", func(t *testing.T) {
		f := open(t, t.TempDir())
		must.OK(t, f.Create(State{Prompt: "Go."}))
		for range 2 {
			must.OK(t, f.Remove())
		}
		if entries, _ := os.ReadDir(f.folder); len(entries) > 0 {
			t.Errorf("left behind: %v", entries)
		}
	})
	t.Run("but not .pi with something else in it", func(t *testing.T) {
		f := open(t, t.TempDir())
		must.OK(t, f.Create(State{Prompt: "Go."}))
		settings := filepath.Join(f.folder, ".pi", "settings.json")
		os.WriteFile(settings, nil, 0o600)
		must.OK(t, f.Remove())
		if _, err := os.Stat(settings); err != nil {
			t.Error(err)
		}
	})
	t.Run("nor a .pi that was there", func(t *testing.T) {
		f := open(t, t.TempDir())
		write(t, f, "---\n---\nGo.")
		must.OK(t, f.Remove())
		if _, err := os.Stat(filepath.Dir(f.Path())); err != nil {
			t.Error(err)
		}
	})
}

func TestBigFiles(t *testing.T) {
	f := open(t, t.TempDir())
	prompt := strings.Repeat("0123456789abcde\n", 50<<20/16)
	must.OK(t, f.Create(State{Prompt: prompt}))
	if s, err := f.Update(func(s *State) error { s.Model = "m"; return nil }); err != nil || s.Prompt != prompt {
		t.Errorf("50 MiB: %v", err)
	}
	must.OK(t, os.Truncate(f.Path(), maxSize+1))
	_, err := f.Load()
	wantError(t, err, "has more than 64 MiB")
}

func TestALeftoverOfAKilledProcessIsSwept(t *testing.T) {
	f := open(t, t.TempDir())
	write(t, f, "---\n---\nGo.")
	dir := filepath.Dir(f.Path())
	leftover, inUse, foreign := filepath.Join(dir, tempPrefix+"md.1.tmp"), filepath.Join(dir, tempPrefix+"md.2.tmp"), filepath.Join(dir, "mine.tmp")
	for path, age := range map[string]time.Duration{leftover: time.Hour, inUse: 0, foreign: time.Hour} {
		must.OK(t, os.WriteFile(path, nil, 0o600))
		must.OK(t, os.Chtimes(path, time.Time{}, time.Now().Add(-age)))
	}
	l, err := f.Lock(Owner{})
	must.OK(t, err)
	defer l.Release()
	for path, want := range map[string]bool{leftover: false, inUse: true, foreign: true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s exists: %v, want %v", filepath.Base(path), err == nil, want)
		}
	}
}

func open(t testing.TB, folder string) *File {
	t.Helper()
	f, err := Open(folder)
	must.OK(t, err)
	return f
}

// drivesIt takes the lock, as who drives the loop does.
func drivesIt(t testing.TB, f *File) *Lock {
	t.Helper()
	l, err := f.Lock(Owner{})
	must.OK(t, err)
	t.Cleanup(func() { l.Release() })
	return l
}

// write saves the file as an editor does, and makes .pi.
func write(t testing.TB, f *File, text string) {
	t.Helper()
	must.Write(t, f.Path(), text)
}

func wantText(t *testing.T, f *File, want string) {
	t.Helper()
	got := must.Read(t, f.Path())
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("the file: -want +got:\n%s", diff)
	}
}

func wantError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("error %v, want one with %q", err, part)
	}
}

func onlyTheStateFile(t *testing.T, f *File) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(f.Path()))
	must.OK(t, err)
	for _, entry := range entries {
		if entry.Name() != filepath.Base(Name) {
			t.Errorf("left behind: %s", entry.Name())
		}
	}
}
