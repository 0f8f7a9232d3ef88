package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// session is one that is kept of a loop in a folder.
func session(t *testing.T, folder, id string, at time.Time) {
	t.Helper()
	file := filepath.Join(t.TempDir(), id+".jsonl")
	put(t, file, "")
	must.OK(t, registry.Set(registry.Entry{LoopID: id, Folder: folder, StartedAt: at, SessionFile: file}))
}

// Two worktrees had the same folder, one after the other, and a third one has it now. Each
// loop is known by its own.
func TestLoopsOfWorktreesAreKeptForTheirRepository(t *testing.T) {
	ctx := context.Background()
	repo, tree := repository(t, false)
	begin := time.Now().Add(-time.Hour)
	session(t, repo, "own", begin)
	session(t, filepath.Dir(repo), "somebody's", begin)
	var want []string
	check := func() {
		t.Helper()
		past := loop.PastOf(repo, 0)
		got := []string{}
		for _, p := range past {
			said := p.LoopID
			if p.Tree != nil {
				said += fmt.Sprint(" ", p.Tree.Fate, " ", p.Tree.Branch, " ", p.Tree.Into, p.Tree.Here)
			}
			got = append(got, said)
		}
		slices.Reverse(got)
		if !slices.Equal(got, want) {
			t.Fatalf("%q, want %q", got, want)
		}
	}
	again := func() {
		t.Helper()
		m, err := worktree.Add(ctx, worktree.Options{Folder: repo, Title: "Fix it"})
		if err == nil {
			err = m.Done()
		}
		if err != nil || m.Path != tree.Path {
			t.Fatalf("%+v %v", m, err)
		}
	}

	session(t, tree.Folder, "first", begin.Add(time.Second))
	want = []string{"own", "first made ralph/fix-it true"}
	check()
	put(t, filepath.Join(tree.Path, "a"), "two\n")
	must.OK(t, must.Err(worktree.Land(ctx, tree, worktree.LandOptions{})))
	want[1] = "first landed ralph/fix-it mainfalse"
	check()
	again()
	session(t, tree.Folder, "second", time.Now())
	want = append(want, "second made ralph/fix-it true")
	check()
	testhome.Git(t, repo, "worktree", "remove", "--force", tree.Path)
	testhome.Git(t, repo, "branch", "-D", "ralph/fix-it")
	want[2] = "second made ralph/fix-it false"
	check()
	again()
	session(t, tree.Folder, "third", time.Now().Add(time.Second))
	want = append(want, "third made ralph/fix-it true")
	check()

	if found := loop.FindPast(repo, "fix-it"); found == nil || found.LoopID != "third" {
		t.Errorf("by the branch: %+v", found)
	}
	if found := loop.FindPast(repo, "first"); found == nil || found.Tree.Into != "main" {
		t.Errorf("by its id: %+v", found)
	}
	if found := loop.FindPast(repo, "somebody's"); found != nil {
		t.Errorf("another folder's: %+v", found)
	}
	if last := loop.PastOf(repo, 1); len(last) != 1 || last[0].LoopID != "third" {
		t.Errorf("the last one: %+v", last)
	}
	if past := loop.PastOf(repo, 0, tree.Folder); len(past) != 1 {
		t.Errorf("without the tree's: %+v", past)
	}
}
