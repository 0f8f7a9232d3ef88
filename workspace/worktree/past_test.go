package worktree

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// What became of each tree is known after it is gone, to the folder that it stood for.
func TestWhatBecameOfTreesIsKnown(t *testing.T) {
	w := newWork(t)
	landed, unwanted := w.loopTree("Fix it"), w.loopTree("Unwanted")
	commit := w.land(landed, LandOptions{}).Commit
	w.land(w.add(Options{Title: "No work"}).Tree, LandOptions{})
	discarded, err := Discard(context.Background(), unwanted, nil, false)
	w.must(err)
	byHand := w.add(Options{Title: "By hand", Folder: filepath.Join(w.repo, "sub")}).Tree
	w.git("worktree", "remove", "--force", byHand.Path)
	there := w.add(Options{Title: "Again"}).Tree

	type known struct {
		fate                       Fate
		folder, into, commit, refs string
		here                       bool
	}
	check := func(folder string, want ...known) {
		t.Helper()
		got := PastOf(folder)
		if len(got) != len(want) {
			t.Fatalf("%d lines of %s: %+v", len(got), folder, got)
		}
		for i, p := range got {
			if is := (known{p.Fate, p.Folder, p.Into, p.Commit, p.Ref, p.Here}); is != want[i] {
				t.Errorf("line %d is %+v, want %+v", i, is, want[i])
			}
		}
	}
	noWork := filepath.Join(filepath.Dir(landed.Path), "no-work")
	check(w.repo,
		known{FateMade, landed.Path, "", "", "", false},
		known{FateMade, unwanted.Path, "", "", "", false},
		known{FateLanded, landed.Path, "main", commit, "", false},
		known{FateMade, noWork, "", "", "", false},
		known{FateLanded, noWork, "main", "", "", false},
		known{FateDiscarded, unwanted.Path, "", "", discarded.Ref, false},
		known{FateMade, there.Path, "", "", "", true})
	check(filepath.Join(w.repo, "sub"), known{FateMade, byHand.Folder, "", "", "", false})
	check(there.Path)
	check(w.dir)
}

// A landing that is cut off before the tree is gone, and a line that is cut off, take nothing along.
func TestALineThatWasCutOffTakesNoOtherAlong(t *testing.T) {
	w := newWork(t)
	tree := w.add(Options{Title: "Fix it"}).Tree
	file, err := os.OpenFile(filepath.Join(w.repo, ".git", "ralph", pastName), os.O_APPEND|os.O_WRONLY, 0)
	w.must(err)
	_, err = file.WriteString("\n" + `{"fate":"landed","fol`)
	w.must(err)
	w.must(file.Close())
	w.land(tree, LandOptions{})
	if got := PastOf(w.repo); len(got) != 2 || got[1].Fate != FateLanded || got[1].Folder != tree.Path {
		t.Errorf("%+v", got)
	}
}

// What somebody has put in the place of the list is neither followed nor waited for: a start
// is refused, and a landing says why the tree stays.
func TestAPlantedListIsLeftAlone(t *testing.T) {
	w := newWork(t)
	tree := w.loopTree("Fix it")
	w.write("precious", "mine\n")
	name := filepath.Join(w.repo, ".git", "ralph", pastName)
	for kind, plant := range map[string]func() error{
		"a link out":      func() error { return os.Symlink(filepath.Join(w.dir, "precious"), name) },
		"a link in":       func() error { return os.Symlink("../config", name) },
		"a folder":        func() error { return os.Mkdir(name, 0o777) },
		"a link to a tty": func() error { return os.Symlink("/dev/tty", name) },
	} {
		config := w.git("config", "--list", "--local")
		w.must(os.Remove(name))
		w.must(plant())
		if m, err := Add(context.Background(), Options{Folder: w.repo, Title: "Another"}); err == nil {
			if err := m.Done(); err == nil {
				t.Errorf("%s: a tree was made, and nobody knows it", kind)
			}
			w.must(m.Drop())
		}
		if past := PastOf(w.repo); len(past) != 1 || !past[0].Here {
			t.Errorf("%s: %+v", kind, past)
		}
		if got := w.git("config", "--list", "--local"); got != config {
			t.Errorf("%s: git's configuration is %q", kind, got)
		}
		w.has(filepath.Join(w.dir, "precious"), "mine\n")
	}
	if done := w.land(tree, LandOptions{}); done.Gone || done.Stays == "" {
		t.Errorf("%+v", done)
	}
	w.must(os.Remove(name))
	if done := w.land(tree, LandOptions{}); !done.Gone {
		t.Errorf("%+v", done)
	}
}
