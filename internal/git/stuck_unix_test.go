//go:build !windows

package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/filekinds"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// A git isn't even started where a file of its repository would hold it up.
func TestARepositoryThatGitCannotRead(t *testing.T) {
	for _, kind := range filekinds.All() {
		t.Run(kind.Name, func(t *testing.T) {
			for _, name := range []string{"HEAD", "config", "packed-refs", "index", "commondir", "info/exclude", "refs/heads/main"} {
				g := repository(t)
				path := filepath.Join(g.Dir, ".git", filepath.FromSlash(name))
				kind.Put(t, path)
				filekinds.Ends(t, func() {
					begun := time.Now()
					if _, err := g.Run(t.Context(), nil, "rev-parse", "HEAD"); name == "index" && err != nil {
						t.Errorf("a git that reads no index: %v", err)
					}
					_, err := g.Run(t.Context(), nil, "ls-files")
					if kind.Name == "a folder" || kind.Name == "a loop of links" { // git says what is wrong, or can do without
						return
					}
					if err == nil || !strings.Contains(err.Error(), path) || !IsStuck(err) {
						t.Errorf("%s: %v", name, err)
					}
					if took := time.Since(begun); took > firstLook {
						t.Errorf("%s: it took %v", name, took)
					}
				})
			}
		})
	}
}

// Where no repository is, git looks for one all the same.
func TestAFolderInWhichGitLooksForARepository(t *testing.T) {
	g := repository(t)
	for _, kind := range filekinds.All() {
		for _, name := range []string{".git", "HEAD"} {
			g.Dir = t.TempDir()
			kind.Put(t, filepath.Join(g.Dir, name))
			filekinds.Ends(t, func() {
				if _, err := g.Layout(t.Context()); err == nil {
					t.Errorf("%s as %s is a repository", name, kind.Name)
				}
			})
		}
	}
}

// What git reads in each folder nobody looks at before it: a git that waits for it is ended.
func TestAGitThatWaitsForAFileOfTheWorkTree(t *testing.T) {
	for _, name := range []string{".gitignore", "deep/down/.gitignore", ".git/refs/heads/other"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := repository(t)
			path := filepath.Join(g.Dir, filepath.FromSlash(name))
			filekinds.All()[0].Put(t, path)
			must.OK(t, os.WriteFile(filepath.Join(filepath.Dir(path), "new"), nil, 0o600))
			filekinds.Ends(t, func() {
				begun := time.Now()
				_, err := g.Run(t.Context(), nil, "status", "--porcelain")
				if name == ".git/refs/heads/other" {
					_, err = g.Run(t.Context(), nil, "for-each-ref")
				}
				if err == nil || !strings.Contains(err.Error(), path+": it isn't a regular file but a named pipe; remove it") || !IsStuck(err) {
					t.Errorf("%v after %v", err, time.Since(begun))
				}
			})
		})
	}
}

// A pipe at which nobody waits is no reason to end a git.
func TestAGitThatTakesItsTimeIsLeftAlone(t *testing.T) {
	g := repository(t)
	filekinds.All()[0].Put(t, filepath.Join(g.Dir, "ignored", ".gitignore"))
	g.Program = program(t, "sleep 3; echo done")
	if out, err := g.Text(t.Context(), nil, "status"); out != "done" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
	g.Program, g.Patience = program(t, "sleep 300"), 100*time.Millisecond
	_, err := g.Text(t.Context(), nil, "status")
	if err == nil || !strings.Contains(err.Error(), "ignored/.gitignore: it isn't a regular file") {
		t.Errorf("at its deadline: %v", err)
	}
	must.OK(t, os.RemoveAll(filepath.Join(g.Dir, "ignored")))
	_, err = g.Text(t.Context(), nil, "status")
	const want = ": it took longer than 100ms, so it was ended; look what git status says in the folder" // it may have asked for settings first
	if err == nil || !strings.HasPrefix(err.Error(), "git ") || !strings.HasSuffix(err.Error(), want) || !errors.Is(err, context.DeadlineExceeded) || !IsStuck(err) {
		t.Errorf("%v, want %s", err, want)
	}
}

// What its caller ends says so.
func TestAGitThatIsCancelled(t *testing.T) {
	g := repository(t)
	g.Program = program(t, "sleep 300")
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := g.Run(ctx, nil, "status"); !errors.Is(err, context.Canceled) || IsStuck(err) {
		t.Errorf("%v", err)
	}
}
