package sandbox

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
)

// The caches of a folder that goes are beside it, so that they go as well.
func TestCachesOfAFolderThatGoes(t *testing.T) {
	for state, want := range map[string]string{"/users/kept": "/users/kept/walls", "": "/users/cache/ralph-lsp/walls/*"} {
		dir := t.TempDir()
		t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "users", "cache"))
		t.Setenv(paths.EnvState, "")
		if state != "" {
			t.Setenv(paths.EnvState, filepath.Join(dir, state))
		}
		p := &mountList{pinned: map[string]bool{}}
		(&mounts{site: &site{folder: filepath.Join(dir, "folder"), home: dir}}).openCaches(p, Run{TempDir: dir})
		open := slices.Index(p.args, "--bind")
		if open < 0 {
			t.Fatalf("nothing is open in %q", p.args)
		}
		if ok, err := filepath.Match(filepath.Join(paths.Real(dir), want), p.args[open+1]); !ok || err != nil {
			t.Errorf("with %q caches are in %s", state, p.args[open+1])
		}
	}
}
