package loopstate

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func TestLinksOutOfTheFolderAreRefused(t *testing.T) {
	outside, err := filepath.EvalSymlinks(t.TempDir())
	must.OK(t, err)
	victim := filepath.Join(outside, "ralph-loop.local.md")
	const text = "---\n---\nSecret."
	must.OK(t, os.WriteFile(victim, []byte(text), 0o600))
	tests := []struct {
		name string
		link func(folder string) error
	}{
		{".pi", func(folder string) error { return os.Symlink(outside, filepath.Join(folder, ".pi")) }},
		{".pi to nothing yet", func(folder string) error {
			return os.Symlink(filepath.Join(outside, "later"), filepath.Join(folder, ".pi"))
		}},
		{"the file", func(folder string) error {
			return linkInPi(folder, victim, "ralph-loop.local.md")
		}},
		{"the file to nothing yet", func(folder string) error {
			return linkInPi(folder, filepath.Join(outside, "later.md"), "ralph-loop.local.md")
		}},
		{"the file by way of another link", func(folder string) error {
			if err := os.Symlink(victim, filepath.Join(folder, "step")); err != nil {
				return err
			}
			return linkInPi(folder, "../step", "ralph-loop.local.md")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			folder := t.TempDir()
			f := open(t, folder) // while all was well
			must.OK(t, tt.link(folder))
			_, openErr := Open(folder)
			wantError(t, openErr, "is a link that leads out of the folder, to "+outside)
			_, loadErr := f.Load()
			_, updateErr := f.Leave(func(s *State) error { s.Iteration++; return nil })
			_, watchErr := f.Watch(t.Context())
			for what, err := range map[string]error{
				"Open": openErr, "Load": loadErr, "Update": updateErr, "Watch": watchErr,
				"Create": f.Create(State{Prompt: "Go."}), "Remove": f.Remove(),
			} {
				if !errors.As(err, new(*OutsideError)) {
					t.Errorf("%s: %v, want an *OutsideError", what, err)
				}
			}
			entries, _ := os.ReadDir(outside)
			if len(entries) != 1 {
				t.Errorf("outside: %v", entries)
			}
			if got, _ := os.ReadFile(victim); string(got) != text {
				t.Errorf("outside: %q", got)
			}
		})
	}
	t.Run("the lock", func(t *testing.T) {
		folder := t.TempDir()
		must.OK(t, linkInPi(folder, filepath.Join(outside, "lock"), filepath.Base(lockName)))
		f := open(t, folder)
		_, err := f.Lock(Owner{})
		_, _, ownerErr := f.Owner()
		for _, err := range []error{err, ownerErr} {
			if !errors.As(err, new(*OutsideError)) {
				t.Errorf("%v, want an *OutsideError", err)
			}
		}
	})
}

func TestLinksInsideTheFolderStay(t *testing.T) {
	tests := []struct {
		name string
		link func(folder string) (link string, err error)
	}{
		{".pi", func(folder string) (string, error) {
			if err := os.Mkdir(filepath.Join(folder, "config"), 0o755); err != nil {
				return "", err
			}
			return ".pi", os.Symlink("config", filepath.Join(folder, ".pi"))
		}},
		{"the file", func(folder string) (string, error) {
			return Name, linkInPi(folder, "../prompt.md", filepath.Base(Name))
		}},
		{"the file by its absolute path", func(folder string) (string, error) {
			return Name, linkInPi(folder, filepath.Join(folder, "prompt.md"), filepath.Base(Name))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			folder := t.TempDir()
			link, err := tt.link(folder)
			must.OK(t, err)
			f := open(t, folder)
			must.OK(t, f.Create(State{Active: true, Iteration: 1, Prompt: "Go."}))
			must.OK(t, must.Err(f.Leave(func(s *State) error { s.Iteration++; return nil })))
			if s, err := f.Load(); err != nil || s.Iteration != 2 {
				t.Errorf("iteration %d, %v, want 2", s.Iteration, err)
			}
			must.OK(t, f.Remove())
			if _, err := os.Readlink(filepath.Join(folder, link)); err != nil {
				t.Errorf("the link is gone: %v", err)
			}
		})
	}
}

func TestAFolderThatIsItselfALink(t *testing.T) {
	real := t.TempDir()
	folder := filepath.Join(t.TempDir(), "link")
	must.OK(t, os.Symlink(real, folder))
	f := open(t, folder)
	if want := filepath.Join(folder, ".pi", "ralph-loop.local.md"); f.Path() != want {
		t.Errorf("path %s, want %s", f.Path(), want)
	}
	must.OK(t, f.Create(State{Prompt: "Go."}))
	if _, err := open(t, real).Load(); err != nil {
		t.Error(err)
	}
}

func TestFoldersThatDoNotWork(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	must.OK(t, os.WriteFile(file, nil, 0o600))
	_, err := Open(file)
	wantError(t, err, file+": it is not a folder")
	_, err = Open(filepath.Join(folder, "missing"))
	wantError(t, err, "missing")

	must.OK(t, os.WriteFile(filepath.Join(folder, ".pi"), nil, 0o600))
	f := open(t, folder)
	_, err = f.Lock(Owner{})
	wantError(t, err, filepath.Join(folder, ".pi")+" is not a folder; move it away")
	wantError(t, f.Create(State{Prompt: "Go."}), filepath.Join(folder, ".pi")+" is not a folder; move it away")

	loop := open(t, t.TempDir())
	must.OK(t, linkInPi(loop.folder, filepath.Base(Name), filepath.Base(Name)))
	_, err = loop.Load()
	wantError(t, err, "too many links")
}

func TestAFolderInThePlaceOfTheFile(t *testing.T) {
	f := open(t, t.TempDir())
	must.OK(t, os.MkdirAll(f.Path(), 0o755))
	_, err := f.Load()
	wantError(t, err, "is not a regular file")
	if err := f.Create(State{Prompt: "Go."}); err == nil {
		t.Error("created in its place")
	}
}

// linkInPi makes .pi/name a link.
func linkInPi(folder, target, name string) error {
	if err := os.MkdirAll(filepath.Join(folder, ".pi"), 0o755); err != nil {
		return err
	}
	return os.Symlink(target, filepath.Join(folder, ".pi", name))
}
