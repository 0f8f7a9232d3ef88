package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// What tools really print of a place that is read-only, and of one that isn't there.
func TestTheWordsOfTools(t *testing.T) {
	home := t.TempDir()
	folder := t.TempDir()
	key := filepath.Join(home, ".ssh", "id_ed25519")
	must.OK(t, os.MkdirAll(filepath.Dir(key), 0o700))
	must.OK(t, os.WriteFile(key, nil, 0o600))
	w := &Sandbox{site: &site{folder: real(folder), home: real(home)}}
	at := func(parts ...string) string { return filepath.Join(append([]string{real(home)}, parts...)...) }
	for output, want := range map[string]Refusal{
		"touch: cannot touch '" + at("x") + "': Read-only file system\n":                         {at("x"), "write"},
		"rm: cannot remove ‘" + at("a b") + "’: Read-only file system":                           {at("a b"), "write"},
		"bash: line 1: " + at(".bashrc") + ": Read-only file system\n":                           {at(".bashrc"), "write"},
		"/bin/sh: 1: cannot create " + at("x") + ": Read-only file system":                       {at("x"), "write"},
		"zsh:1: read-only file system: \"" + at("x") + "\"":                                      {at("x"), "write"},
		"EROFS: read-only file system, open '" + at("x") + "'":                                   {at("x"), "write"},
		"Error: EROFS: read-only file system, mkdir '" + at("d") + "'\n    at Object.mkdirSync":  {at("d"), "write"},
		"open " + at("x") + ": read-only file system":                                            {at("x"), "write"},
		"go: writing go.mod cache: mkdir " + at("go", "pkg") + ": read-only file system":         {at("go", "pkg"), "write"},
		"OSError: [Errno 30] Read-only file system: '" + at("x") + "'":                           {at("x"), "write"},
		"error: could not lock config file .git/config: Read-only file system":                   {filepath.Join(real(folder), ".git/config"), "guard"},
		"fatal: Unable to create '" + at("r", ".git", "index.lock") + "': Read-only file system": {at("r", ".git", "index.lock"), "write"},
		"mv: cannot move '.git/hooks' to 'x': Read-only file system":                             {filepath.Join(real(folder), "x"), "guard"},
		"Could not edit file: ralph.toml. Error code: EROFS.":                                    {filepath.Join(real(folder), "ralph.toml"), "guard"},
		"cat: " + real(key) + ": No such file or directory":                                      {real(key), "read"},
		"cat: ~/.ssh/id_ed25519: No such file or directory":                                      {real(key), "read"},
		"ENOENT: no such file or directory, open '" + real(key) + "'":                            {real(key), "read"},
		"FileNotFoundError: [Errno 2] No such file or directory: '" + real(key) + "'":            {real(key), "read"},
	} {
		if got := w.Refusals(output, real(folder)); !slices.Equal(got, []Refusal{want}) {
			t.Errorf("%q: got %v, want %v", output, got, want)
		}
	}
	for _, output := range []string{
		"ok\n", "", "Read-only file system", "No such file or directory",
		"cat: " + at("d", "id_rsa") + ": No such file or directory", // isn't there outside, either
		"cat: " + at("gone") + ": No such file or directory",
		"touch: cannot touch '/proc/sys/x': Read-only file system and so on: Permission denied: ",
	}[:6] {
		if got := w.Refusals(output, real(folder)); len(got) > 0 {
			t.Errorf("%q: got %v", output, got)
		}
	}
	if got := (*Sandbox)(nil).Refusals("touch: cannot touch '/x': Read-only file system", "/"); got != nil {
		t.Errorf("without walls: %v", got)
	}
}

// A folder that a variable names, which isn't set, is none: it once was the working directory.
func TestAVariableThatIsNotSetOpensNothing(t *testing.T) {
	t.Setenv("NOBODY_SETS_THIS", "")
	w := &mounts{site: &site{folder: real(t.TempDir()), home: real(t.TempDir())}}
	w.there = &layout{site: w.site}
	p := &mountList{pinned: map[string]bool{}}
	owns, err := w.openOwn(p, Run{TempDir: t.TempDir(), Agent: Agent{Own: []Own{{Path: "$NOBODY_SETS_THIS", Read: []string{"settings.json"}}}}})
	if err != nil || len(p.args) > 0 {
		t.Errorf("got %q, %v", p.args, err)
	}
	owns.settle()
}
