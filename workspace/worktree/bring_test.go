package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFilesThatAreBrought(t *testing.T) {
	w := newWork(t)
	w.write("outside/secret", "s\n", "app/.gitignore", "/.env\nnode_modules/\n/conf/\n/out\n/into/\n",
		"app/.env", "E=1\n", "app/node_modules/x/i", "1\n", "app/node_modules/y", "2\n", "app/conf/deep/c", "c\n", "app/into/f", "f\n")
	w.must(os.Symlink("../outside", filepath.Join(w.repo, "out")))
	w.must(os.Symlink(w.dir+"/outside/secret", filepath.Join(w.repo, "conf/leak")))
	w.must(os.Symlink("deep/c", filepath.Join(w.repo, "conf/near")))
	w.git("add", "-A")
	w.git("commit", "-qm", "more")
	m := w.add(Options{Title: "x"})
	w.must(os.Symlink(filepath.Join(w.dir, "outside"), filepath.Join(m.Path, "into")))
	notes, err := Bring(m.Repo, m.Path, []string{".env", "conf", "gone", "a", "out/secret", "../outside/secret", ".git/config", "into/f"}, []string{"node_modules", "out"})
	w.must(err)
	w.has(filepath.Join(m.Path, ".env"), "E=1\n")
	w.has(filepath.Join(m.Path, "conf/deep/c"), "c\n")
	w.has(filepath.Join(m.Path, "conf/near"), "c\n")
	w.has(filepath.Join(m.Path, "conf/leak"), "")
	w.has(filepath.Join(m.Path, "out/secret"), "")
	w.has(filepath.Join(w.dir, "outside/f"), "")
	w.has(filepath.Join(m.Path, "a"), "one\n")
	w.has(filepath.Join(m.Path, "node_modules/x/i"), "1\n")
	w.has(filepath.Join(m.Path, "node_modules/y"), "2\n")
	if target, err := os.Readlink(filepath.Join(m.Path, "node_modules/x")); err != nil || target != filepath.Join(w.repo, "node_modules/x") {
		t.Error(target, err)
	}
	if got := w.gitIn(m.Path, "status", "--porcelain"); got != "?? into\n" {
		t.Errorf("git sees what it ignores in the repository: %q", got)
	}
	all := strings.Join(notes, "\n")
	for _, name := range []string{"conf/leak is", "gone is", "a is", "out/secret is", "../outside/secret is", ".git/config is", "into/f is", "out is"} {
		if !strings.Contains("\n"+all, "\n"+name) {
			t.Errorf("nothing is said of %q in\n%s", name, all)
		}
	}
	if len(notes) != 8 {
		t.Errorf("%d notes:\n%s", len(notes), all)
	}
}
