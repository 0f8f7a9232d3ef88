package service

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// folder has files, which nobody has trusted.
func folder(t *testing.T, files map[string]string) (dir string, s *Service) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		must.OK(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)))
	}
	user := t.TempDir()
	return dir, &Service{Files: func(folder string) config.Files {
		files := config.FilesOf(folder, backends.Names())
		files.UserDir = user
		return files
	}}
}

const ownAgent = "backend = \"mine\"\n[backends.mine]\ncommand = \"./agent\"\n"

func TestWhatIsTrustedIsToldOnce(t *testing.T) {
	dir, s := folder(t, map[string]string{config.Name: ownAgent})
	trusted, err := s.Trust(dir)
	if err != nil || len(trusted) != 1 || filepath.Base(trusted[0].File) != config.Name || len(trusted[0].Lines()) == 0 {
		t.Errorf("%+v, %v", trusted, err)
	}
	if _, err := s.Files(dir).Load(); err != nil {
		t.Errorf("it doesn't count: %v", err)
	}
	if trusted, err := s.Trust(dir); err != nil || len(trusted) != 0 {
		t.Errorf("again: %+v, %v", trusted, err)
	}
	bad, s := folder(t, map[string]string{config.Name: "nonsense = 1\n"})
	if trusted, err := s.Trust(bad); !errors.As(err, new(*config.InvalidError)) || len(trusted) != 0 {
		t.Errorf("a file with mistakes: %+v, %v", trusted, err)
	}
}

func TestHatsOfATrustedFile(t *testing.T) {
	dir, s := folder(t, map[string]string{config.Name: "[hats.planner]\ndescription = \"plans\"\ntriggers = [\"task.start\"]\npublishes = [\"plan.ready\"]\ninstructions = \"Plan it.\"\n"})
	must.OK(t, must.Err(s.Trust(dir)))
	if r := s.Hats(dir); len(r.Hats) != 1 || r.Hats[0].Name != "planner" || r.Hats[0].Text != "plans" {
		t.Errorf("%+v", r)
	}
	if r := s.Hats(t.TempDir()); r.Hats == nil || len(r.Hats) != 0 {
		t.Errorf("%+v", r)
	}
}
