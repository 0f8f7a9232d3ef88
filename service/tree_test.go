package service

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// repository is a folder of the user's with a commit, and a tree of a loop's beside it, in which a file is new.
func repository(t *testing.T) (repo string, tree worktree.Tree) {
	t.Helper()
	dir := paths.Real(t.TempDir())
	t.Setenv("HOME", dir)
	t.Setenv("XDG_STATE_HOME", "")
	repo = filepath.Join(dir, "app")
	must.Write(t, filepath.Join(repo, "a"), "one\n")
	testhome.Git(t, repo, "init", "-q", "-b", "main")
	testhome.Git(t, repo, "config", "user.name", "Ann")
	testhome.Git(t, repo, "config", "user.email", "ann@example.com")
	testhome.Git(t, repo, "add", "-A")
	testhome.Git(t, repo, "commit", "-qm", "first")
	tree = treeOf(t, repo, "Fix it")
	must.Write(t, filepath.Join(tree.Path, "c"), "c\n")
	return repo, tree
}

func treeOf(t *testing.T, repo, title string) worktree.Tree {
	t.Helper()
	m, err := worktree.Add(t.Context(), worktree.Options{Folder: repo, Title: title})
	if err == nil {
		err = m.Done()
	}
	must.OK(t, err)
	return m.Tree
}

// merges is a landing as users want it who say nothing of how.
var merges = wire.LandParams{How: string(worktree.HowMerge)}

func TestALoopThatRunsIsNotLanded(t *testing.T) {
	repo, tree := repository(t)
	file, err := loopstate.Open(tree.Folder)
	must.OK(t, err)
	lock, err := file.Lock(loopstate.Owner{LoopID: "ralph-other"})
	must.OK(t, err)
	s := &Service{}
	_, _, landed := s.Land(t.Context(), tree, merges)
	_, discarded := s.Discard(t.Context(), tree, wire.LandParams{Confirmed: true})
	_, settled := s.Settle(t.Context(), tree, merges, "")
	for what, err := range map[string]error{"landing": landed, "a discard": discarded, "a commit": settled} {
		if refused, ok := errors.AsType[*worktree.Refused](err); !ok || refused.Reason != worktree.ReasonRunning {
			t.Errorf("%s says %v", what, err)
		}
	}
	must.OK(t, lock.Release())
	if said, branch, err := s.Land(t.Context(), tree, merges); err != nil || branch != "main" {
		t.Errorf("%+v on %q, %v", said, branch, err)
	}
	if data, _ := os.ReadFile(filepath.Join(repo, "c")); string(data) != "c\n" {
		t.Errorf("%q", data)
	}
}

// A loop that was left goes with its worktree, and its file doesn't land.
func TestALoopThatWasLeftLands(t *testing.T) {
	repo, tree := repository(t)
	must.Write(t, filepath.Join(tree.Path, loopstate.Name), "---\nactive: true\niteration: 3\nloop_id: ralph-left\n---\nFix it\n")
	found, err := findTree(repo, "ralph-left")
	must.OK(t, err)
	said, _, err := (&Service{}).Land(t.Context(), found, merges)
	if err != nil || !strings.Contains(said.Text, "(1 file)") {
		t.Errorf("%+v %v", said, err)
	}
	for _, gone := range []string{filepath.Join(repo, ".pi"), tree.Path} {
		if _, err := os.Stat(gone); err == nil {
			t.Errorf("%s is there", gone)
		}
	}
}

func TestATreeIsFoundByItsNames(t *testing.T) {
	repo, tree := repository(t)
	for _, name := range []string{"", "ralph/fix-it", "fix-it", tree.Path} {
		if found, err := findTree(repo, name); err != nil || found.Path != tree.Path {
			t.Errorf("%q: %+v %v", name, found, err)
		}
	}
	if found, err := findTree(tree.Path, ""); err != nil || found.Path != tree.Path {
		t.Errorf("from within: %+v %v", found, err)
	}
	treeOf(t, repo, "Two")
	for name, want := range map[string]string{"other": "there are ralph/fix-it", "": "say which one: ralph/fix-it, ralph/two"} {
		if _, err := findTree(repo, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := findTree(t.TempDir(), ""); err == nil || !strings.Contains(err.Error(), "run --worktree") {
		t.Errorf("%v", err)
	}
}
