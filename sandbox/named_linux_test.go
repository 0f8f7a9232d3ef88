package sandbox_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/walltest"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// An agent has a second run, and its user a second loop in the folder. What the first run makes
// leads the walls of neither.
func TestWhatARunMakesLeadsNoLaterWalls(t *testing.T) {
	steal := `cat a/out/id .git/worktrees/id .git/modules/id .git/ralph/id .git/config.worktree; echo evil >>a/out/id; echo evil >>.git/worktrees/id; echo evil >>.git/modules/id`
	tests := []struct {
		name    string
		spec    sandbox.Spec
		prepare []string // folders that are there
		first   string   // what the first run does
		isLed   bool     // what it made is a link, and the second walls say so
	}{
		{"a folder that may be written", sandbox.Spec{Write: []string{"a/out"}}, []string{"a/out"}, "mv a a2; mkdir a; ln -s ../../.ssh a/out", false},
		{"that folder itself", sandbox.Spec{Write: []string{"a/out"}}, []string{"a/out"}, "rmdir a/out; mv a/out a/b; ln -s ../../.ssh a/out", false},
		{"a folder outside that may be written", sandbox.Spec{Write: []string{"~/share", "~/share/a/out"}}, []string{"../share/a/out"}, "cd ../share; mv a a2; mkdir a; ln -s ../../.ssh a/out", false},
		{"one that wasn't named then", sandbox.Spec{}, nil, "mkdir a; ln -s ../../.ssh a/out", false},
		{"what git keeps of worktrees", sandbox.Spec{}, nil, "ln -s ../../.ssh .git/worktrees", true},
		{"what git keeps of submodules", sandbox.Spec{}, nil, "ln -s ../../.ssh .git/modules", true},
		{"what is kept of loops", sandbox.Spec{}, nil, "rm -rf .git/ralph; ln -s ../../.ssh .git/ralph", false},
		{"a configuration", sandbox.Spec{}, nil, "ln -s ../../.ssh/id .git/config.worktree", true},
	}
	walltest.Both(t, func(t *testing.T) {
		for _, tt := range tests {
			for _, isNewLoop := range []bool{false, true} {
				t.Run(fmt.Sprint(strings.ReplaceAll(tt.name, " ", "_"), isNewLoop), func(t *testing.T) {
					p := newPlace(t)
					must.Write(t, filepath.Join(p.home, ".ssh", "id"), secret)
					for _, dir := range tt.prepare {
						must.OK(t, os.MkdirAll(filepath.Join(p.folder, dir), 0o755))
					}
					walls := raise(t, tt.spec, p.folder)
					p.run(t, walls, sandbox.Run{}, "/bin/sh", "-c", tt.first)
					var out string
					var err error
					if isNewLoop {
						walls.Close()
						spec := sandbox.Spec{Mode: sandbox.Workspace, Write: append([]string{"a/out"}, tt.spec.Write...)}
						walls, err = sandbox.Raise(t.Context(), spec, p.folder)
					}
					if err == nil {
						out, err = p.tries(t, walls, steal)
					}
					if strings.Contains(out, secret) || contains(filepath.Join(p.home, ".ssh", "id"), "evil") {
						t.Errorf("it is read or written: %v\n%s", err, out)
					}
					if refused := (*sandbox.Error)(nil); tt.isLed && (!errors.As(err, &refused) || refused.Fix == "" || !strings.Contains(refused.Why, "is a link")) {
						t.Errorf("got %v", err)
					}
				})
			}
		}
	})
}

// tries runs a script behind walls, which may refuse to be raised around it.
func (p place) tries(t *testing.T, walls *sandbox.Sandbox, script string) (string, error) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Dir, cmd.Env = p.folder, append(os.Environ(), "HOME="+p.home)
	settle, err := walls.Wrap(cmd, sandbox.Run{TempDir: t.TempDir()})
	if err != nil {
		return "", err
	}
	defer settle()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// What is hidden stays so: the folders above it can't be moved, not even in what is protected.
func TestWhatIsHiddenStaysHidden(t *testing.T) {
	walltest.Both(t, func(t *testing.T) {
		p := newPlace(t)
		must.Write(t, filepath.Join(p.folder, "a", "b", "x"), secret)
		must.Write(t, filepath.Join(p.folder, "a", "b", "kept"), "ours")
		for _, spec := range []sandbox.Spec{{Hide: []string{"a/b/x"}}, {Hide: []string{"a/b/x"}, Protect: []string{"a"}}, {Hide: []string{"~/work/a/b"}, Write: []string{"~/work"}}} {
			walls := raise(t, spec, p.folder)
			p.run(t, walls, sandbox.Run{}, "/bin/sh", "-c", "mv a a2; mv a/b a/b2; echo evil >>a/b/kept")
			out, err := p.run(t, walls, sandbox.Run{}, "/bin/sh", "-c", "cat a/b/x a2/b/x a/b2/x")
			if strings.Contains(out, secret) {
				t.Errorf("%v: it is read: %v\n%s", spec, err, out)
			}
			if len(spec.Protect) > 0 && contains(filepath.Join(p.folder, "a", "b", "kept"), "evil") {
				t.Error("what is protected was written")
			}
			walls.Close()
			os.WriteFile(filepath.Join(p.folder, "a", "b", "kept"), []byte("ours"), 0o644)
		}
	})
}

// The folder's own name is no pattern: what is protected in it stays so, whatever it is called.
func TestWhatIsProtectedInAFolderWithAPatternsName(t *testing.T) {
	walltest.Both(t, func(t *testing.T) {
		for _, folder := range []string{"app [old]", "a*", `a\b`} {
			p := newPlace(t)
			named := filepath.Join(p.home, folder)
			must.OK(t, os.Rename(p.folder, named))
			p.folder = named
			protected := []string{"key.pem", "deploy/prod.pem", "docs/a/kept.md", "all.code-workspace"} // the last by ourselves
			for _, name := range protected {
				must.Write(t, filepath.Join(p.folder, name), "ours")
			}
			walls := raise(t, sandbox.Spec{Protect: []string{"./*.pem", "deploy/*.pem", "docs/"}}, p.folder)
			p.run(t, walls, sandbox.Run{}, "/bin/sh", "-c", "for f in free "+strings.Join(protected, " ")+"; do echo evil >>$f; done")
			for _, name := range protected {
				if contains(filepath.Join(p.folder, name), "evil") {
					t.Errorf("in %q, %s was written", folder, name)
				}
			}
			if !contains(filepath.Join(p.folder, "free"), "evil") {
				t.Errorf("in %q, nothing can be written", folder)
			}
		}
	})
}

// A repository of the user's elsewhere isn't opened by a link in a folder that has none.
func TestALinkToARepositoryOpensNone(t *testing.T) {
	walltest.Both(t, func(t *testing.T) {
		p := newPlace(t)
		other := filepath.Join(p.home, "other")
		must.OK(t, os.Rename(filepath.Join(p.folder, ".git"), other))
		walls := raise(t, sandbox.Spec{}, p.folder)
		p.run(t, walls, sandbox.Run{}, "/bin/sh", "-c", "ln -s ../other .git")
		_, err := p.tries(t, walls, "echo evil >.git/objects/evil")
		if contains(filepath.Join(other, "objects", "evil"), "evil") || err == nil || !strings.Contains(err.Error(), "is a link") {
			t.Errorf("it was opened: %v", err)
		}
	})
}
