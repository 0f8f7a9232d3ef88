package engine

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// repository is a folder of the user's with a commit, and a tree of a loop's beside it.
func repository(t *testing.T, commits bool) (repo string, tree worktree.Tree) {
	t.Helper()
	dir := paths.Real(t.TempDir())
	t.Setenv("HOME", dir)
	t.Setenv("XDG_STATE_HOME", "")
	repo = filepath.Join(dir, "app")
	put(t, filepath.Join(repo, "a"), "one\n")
	testhome.Git(t, repo, "init", "-q", "-b", "main")
	testhome.Git(t, repo, "config", "user.name", "Ann")
	testhome.Git(t, repo, "config", "user.email", "ann@example.com")
	testhome.Git(t, repo, "add", "-A")
	testhome.Git(t, repo, "commit", "-qm", "first")
	m, err := worktree.Add(context.Background(), worktree.Options{Folder: repo, Title: "Fix it", Commit: commits})
	must.OK(t, err)
	must.OK(t, m.Done())
	return repo, m.Tree
}

func TestEachIterationIsCommitted(t *testing.T) {
	_, tree := repository(t, true)
	a, own := filepath.Join(tree.Path, "a"), filepath.Join(tree.Path, "own")
	first, second, third := writes(t, a, "two\n"), writes(t, own, "own\n"), writes(t)
	first.result.Text = "**Changed a.**\n\nAs asked."
	second.during = func() {
		put(t, own, "own\n")
		testhome.Git(t, tree.Path, "add", "own")
		testhome.Git(t, tree.Path, "commit", "-qm", "The agent's own")
		put(t, a, "three\n")
	}
	second.result.Text = "<promise>NO</promise>"
	r := start(t, func(c *setup.Config) {
		kept(t, tree.Path)(c)
		c.Limits.MaxIterations = 3
	}, first, second, third)
	r.over(loop.StopMaxIterations, 3)
	r.changed("1: 1 +1 -1", "2: 2 +2 -1", "3: 0 +0 -0")
	log := testhome.Git(t, tree.Path, "log", "--format=%an: %s", "main..")
	if log != "Ann: Iteration 2: Build it\nAnn: The agent's own\nAnn: Changed a\n" {
		t.Errorf("%q", log)
	}
	if body := testhome.Git(t, tree.Path, "log", "-1", "--format=%b", "HEAD~2"); strings.TrimSpace(body) != "As asked." {
		t.Errorf("%q", body)
	}
	if status := testhome.Git(t, tree.Path, "status", "--porcelain"); status != "" {
		t.Errorf("git status says %q", status)
	}
}

func TestNothingIsCommittedUnasked(t *testing.T) {
	_, tree := repository(t, false)
	r := start(t, kept(t, tree.Path), writes(t, filepath.Join(tree.Path, "a"), "two\n"), writes(t))
	r.over(loop.StopMaxIterations, 2)
	if log := testhome.Git(t, tree.Path, "log", "--format=%s"); log != "first\n" {
		t.Errorf("%q", log)
	}
}

func TestAnIterationThatCannotBeCommittedIsAWarningOnce(t *testing.T) {
	repo, tree := repository(t, true)
	testhome.Git(t, repo, "config", "--unset", "user.name")
	a := filepath.Join(tree.Path, "a")
	r := start(t, kept(t, tree.Path), writes(t, a, "two\n"), writes(t, a, "three\n"))
	r.over(loop.StopMaxIterations, 2)
	if n := r.log.count("isn't committed: git doesn't know who you are"); n != 1 {
		t.Errorf("warned %d times: %q", n, r.log.lines)
	}
	r.changed("1: 1 +1 -1", "2: 1 +1 -1")
}
