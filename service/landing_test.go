package service

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

func TestATreeIsLookedForInEachFolder(t *testing.T) {
	repo, tree := repository(t)
	s, empty := new(Service), t.TempDir()
	if found, err := s.Tree(Which{Folders: []string{empty, repo}}); err != nil || found.Path != tree.Path {
		t.Errorf("%+v, %v", found, err)
	}
	for want, w := range map[string]Which{
		"no folder is open":                       {},
		"no loop has a worktree in " + empty:      {Folders: []string{repo + "x", empty}, LoopID: "fix-it"},
		"is called three; there are ralph/fix-it": {LoopID: "three", Folders: []string{repo}},
	} {
		if _, err := s.Tree(w); reasonOf(err) != wire.ReasonNoWorktree || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestALoopsWorkLandsAndItsTreeGoes(t *testing.T) {
	repo, tree := repository(t)
	s := new(Service)
	if patch, err := s.TreePatch(t.Context(), tree); err != nil || !strings.Contains(string(patch), "+c\n") {
		t.Errorf("%s, %v", patch, err)
	}
	if _, _, err := s.Land(t.Context(), tree, wire.LandParams{How: "somehow"}); !IsInvalid(err) {
		t.Error(err)
	}
	would, branch, err := s.Land(t.Context(), tree, wire.LandParams{How: "merge", DryRun: true})
	if err != nil || branch != "main" || !strings.HasPrefix(would.Text, "would land ") {
		t.Errorf("%+v, %q, %v", would, branch, err)
	}
	said, err := s.Settle(t.Context(), tree, merges, filepath.Join(t.TempDir(), "a.bundle"))
	if err != nil || !strings.Contains(said.Text, "git fetch ") || testhome.Git(t, tree.Path, "status", "--porcelain") != "" {
		t.Errorf("%+v, %v", said, err)
	}
	landed, branch, err := s.Land(t.Context(), tree, wire.LandParams{How: "merge", Keep: true})
	if err != nil || branch != "main" || landed.Commit == "" {
		t.Errorf("%+v, %q, %v", landed, branch, err)
	}
	if again, branch, err := s.Land(t.Context(), tree, merges); err != nil || branch != "" || !strings.HasPrefix(again.Text, "nothing to land") {
		t.Errorf("%+v, %q, %v", again, branch, err)
	}
	if _, err := os.Stat(tree.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the worktree is there: %v", err)
	}
	if _, err := os.Stat(filepath.Join(repo, "c")); err != nil {
		t.Error(err)
	}
}

// Nothing is discarded before its user has seen what is lost.
func TestADiscardAsksFirst(t *testing.T) {
	_, tree := repository(t)
	s := new(Service)
	for _, p := range []wire.LandParams{{}, {DryRun: true}, {DryRun: true, Confirmed: true}} {
		question, err := s.Discard(t.Context(), tree, p)
		if _, gone := os.Stat(tree.Path); err != nil || !strings.HasPrefix(question.Text, "Discard ralph/fix-it? ") || gone != nil || (len(question.Offers) > 0) == p.DryRun {
			t.Errorf("%+v: %+v, %v, %v", p, question, err, gone)
		}
	}
	if done, err := s.Discard(t.Context(), tree, wire.LandParams{Confirmed: true}); err != nil || !strings.HasPrefix(done.Text, "discarded ralph/fix-it") {
		t.Errorf("%+v, %v", done, err)
	}
	if _, err := os.Stat(tree.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the worktree is there: %v", err)
	}
	if _, err := s.Discard(t.Context(), tree, wire.LandParams{Confirmed: true}); reasonOf(err) != wire.ReasonNoWorktree {
		t.Errorf("again: %v", err)
	}
}

func TestADescriptionNeedsAnEnd(t *testing.T) {
	_, tree := repository(t)
	s := new(Service)
	receipt := func(e loop.End) wire.Receipt { return wire.ReceiptOf(e, "") }
	if _, err := s.Describe(t.Context(), tree, receipt); err == nil || !strings.Contains(err.Error(), "how a loop ended") {
		t.Error(err)
	}
	e := registry.Entry{LoopID: "ralph-1", Folder: tree.Folder, Title: "Build it", End: []byte(`{"stopReason":"promise","iterations":2}`)}
	must.OK(t, registry.Set(e))
	if d, err := s.Describe(t.Context(), tree, receipt); err != nil || d.Title != "Build it" || !strings.Contains(d.Body, "c") {
		t.Errorf("%+v, %v", d, err)
	}
}
