package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/worktree"
)

// session is one that is kept of a loop in a folder.
func session(t *testing.T, h history.Options, folder, id string, at time.Time) {
	t.Helper()
	stamp := at.UTC().Format("2006-01-02T15:04:05.000Z")
	put(t, filepath.Join(h.Folder, stamp+"_"+id+".jsonl"), fmt.Sprintf(`{"type":"session","version":3,"id":%q,"timestamp":%q,"cwd":%q}
{"type":"custom","id":"1","parentId":null,"timestamp":%[2]q,"customType":"assistant.event","data":{"chatEventType":"loop_start","payload":{"loopId":%[1]q,"title":%[1]q,"startedAt":%[2]q}}}
`, id, stamp, folder))
}

// Two worktrees had the same folder, one after the other, and a third one has it now. Each
// loop is known by its own.
func TestLoopsOfWorktreesAreKeptForTheirRepository(t *testing.T) {
	ctx := context.Background()
	repo, tree := repository(t, false)
	h := history.Options{Folder: t.TempDir()}
	begin := time.Now().Add(-time.Hour)
	session(t, h, repo, "own", begin)
	session(t, h, filepath.Dir(repo), "somebody's", begin)
	var want []string
	check := func() {
		t.Helper()
		past, err := loop.PastOf(repo, h, 0)
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, p := range past {
			said := p.Loop.LoopID
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

	session(t, h, tree.Folder, "first", begin.Add(time.Second))
	want = []string{"own", "first made ralph/fix-it true"}
	check()
	put(t, filepath.Join(tree.Path, "a"), "two\n")
	if _, err := loop.Land(ctx, tree, worktree.LandOptions{}, h); err != nil {
		t.Fatal(err)
	}
	want[1] = "first landed ralph/fix-it mainfalse"
	check()
	again()
	session(t, h, tree.Folder, "second", time.Now())
	want = append(want, "second made ralph/fix-it true")
	check()
	testhome.Git(t, repo, "worktree", "remove", "--force", tree.Path)
	testhome.Git(t, repo, "branch", "-D", "ralph/fix-it")
	want[2] = "second made ralph/fix-it false"
	check()
	again()
	session(t, h, tree.Folder, "third", time.Now().Add(time.Second))
	want = append(want, "third made ralph/fix-it true")
	check()

	if found, err := loop.FindPast(repo, h, "fix-it"); err != nil || found == nil || found.Loop.LoopID != "third" {
		t.Errorf("by the branch: %+v %v", found, err)
	}
	if found, err := loop.FindPast(repo, h, "first"); err != nil || found == nil || found.Tree.Into != "main" {
		t.Errorf("by its id: %+v %v", found, err)
	}
	if found, err := loop.FindPast(repo, h, "somebody's"); err != nil || found != nil {
		t.Errorf("another folder's: %+v %v", found, err)
	}
	if last, err := loop.PastOf(repo, h, 1); err != nil || len(last) != 1 || last[0].Loop.LoopID != "third" {
		t.Errorf("the last one: %+v %v", last, err)
	}
	if past, err := loop.PastOf(repo, h, 0, tree.Folder); err != nil || len(past) != 1 {
		t.Errorf("without the tree's: %+v %v", past, err)
	}
}
