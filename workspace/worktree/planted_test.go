package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whoever works in a repository, an agent behind walls as well, can write what we keep in
// it. Nothing outside is touched because of that.
func TestWhatIsPlantedInARepositoryHarmsNothingOutside(t *testing.T) {
	for name, plant := range map[string]func(w *work){
		"a record of a file":            func(w *work) { w.plant("key", `"path":"`+w.dir+`/home/key"`) },
		"a record of what is below one": func(w *work) { w.plant("x", `"path":"`+w.dir+`/home/key/x","place":true`) },
		"a record of the repository":    func(w *work) { w.plant("..", `"path":"`+w.dir+`/app/none/.."`) },
		"a branch that leads out":       func(w *work) { w.plant("x", `"path":"/none/x","made":true,"branch":"../../../../home/some"`) },
		"a record that is a link":       func(w *work) { w.link("home/settings.json", "ralph/settings.json") },
		"records that are a link":       func(w *work) { w.link("home", "ralph") },
		"worktrees that are a link":     func(w *work) { w.link("home", "worktrees"); w.plant("notes", `"path":"/none/notes"`) },
		"branches that are a link": func(w *work) {
			w.link("home", "refs/heads/to")
			w.plant("x", `"path":"/none/x","made":true,"branch":"to/some"`)
		},
		"a base that is a flag for git":  func(w *work) { w.plantBase() },
		"an index to be that is a link":  func(w *work) { w.commitWith("ralph-index") },
		"an index of git's that is one":  func(w *work) { w.commitWith("index") },
		"a record with a flag for a git": func(w *work) { w.plant("x", `"path":"/none/x","made":true,"branch":"main","base":"--stdin"`) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWork(t)
			w.write("home/key", "secret\n", "home/settings.json", "{}\n", "home/some.lock", "mine\n", "home/notes/one", "one\n")
			plant(w)
			m, err := Add(context.Background(), Options{Folder: w.repo, Title: "x"})
			if err == nil {
				w.must(m.Done())
			} else if !strings.Contains(err.Error(), "remove it") {
				t.Error(err)
			}
			w.has(filepath.Join(w.dir, "home/key"), "secret\n")
			w.has(filepath.Join(w.dir, "home/settings.json"), "{}\n")
			w.has(filepath.Join(w.dir, "home/some.lock"), "mine\n")
			w.has(filepath.Join(w.dir, "home/notes/one"), "one\n")
			w.has(filepath.Join(w.dir, "home/new"), "")
			w.git("status")
		})
	}
}

// A git that is killed may have made the tree's .git and written nothing into it.
func TestATreeThatSaysNothingYetIsTakenAway(t *testing.T) {
	for name, isIts := range map[string]bool{"of git's": true, "of nobody's": false} {
		t.Run(name, func(t *testing.T) {
			w := newWork(t)
			path := filepath.Join(w.dir, "app.worktrees", "x")
			if isIts {
				w.git("worktree", "add", "-q", "-b", "b", path)
			}
			w.write("app.worktrees/x/.git", "", "app.worktrees/x/a", "")
			w.plant("x", `"path":"`+path+`","made":true,"place":true,"base":"`+strings.TrimSpace(w.git("rev-parse", "HEAD"))+`"`)
			w.must(w.add(Options{Title: "next"}).Drop())
			if exists(path) == isIts {
				t.Errorf("it is there: %t", !isIts)
			}
			if left := w.git("worktree", "list", "--porcelain") + w.git("branch", "--list", "b"); strings.Contains(left, "worktrees/x") || strings.Contains(left, "b\n  ") {
				t.Errorf("left: %s", left)
			}
		})
	}
}

// plant writes a record as somebody else would.
func (w *work) plant(id, fields string) {
	w.Helper()
	w.write("app/.git/ralph/"+id+".json", fmt.Sprintf(`{"branch":"b","id":%q,%s}`, id, fields))
}

// link makes a link in git's folder to what is outside of it.
func (w *work) link(to, name string) {
	w.Helper()
	name = filepath.Join(w.repo, ".git", name)
	w.must(os.MkdirAll(filepath.Dir(name), 0o777))
	w.must(os.Symlink(filepath.Join(w.dir, to), name))
}

// plantBase has a tree begin with what git takes for a flag, and has it discarded.
func (w *work) plantBase() {
	w.Helper()
	tree := w.add(Options{Title: "y"}).Tree
	w.writeTo(tree.Path, "c", "c\n")
	w.gitIn(tree.Path, "add", "-A")
	w.gitIn(tree.Path, "commit", "-qm", "evil")
	tree.Base = "--output=" + w.dir + "/home/new"
	tree.Commits = true
	w.must(writeMarker(tree))
	if found, ok := Find(tree.Path); ok {
		_, _ = Discard(context.Background(), found, nil, false)
	}
}

// commitWith has an iteration committed while a file of git's leads out.
func (w *work) commitWith(name string) {
	w.Helper()
	tree := w.add(Options{Title: "y"}).Tree
	w.writeTo(tree.Path, "c", "c\n")
	os.Remove(filepath.Join(tree.Admin, name))
	w.link("home/new", filepath.Join("worktrees", filepath.Base(tree.Admin), name))
	_, _ = tree.Commit(context.Background(), "work", "", nil)
}
