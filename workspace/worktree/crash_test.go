package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
)

// roles are what a process does that a test kills: it makes no home, which nobody would remove.
var roles = map[string]func(argument string) error{"add-trees": addUntilKilled}

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && roles[os.Args[1]] != nil {
		if err := roles[os.Args[1]](os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	proctest.HeedSignals()
	remove, err := testhome.Use()
	if err != nil {
		panic(err)
	}
	code := m.Run()
	remove()
	os.Exit(code)
}

// addUntilKilled makes trees for ever, and drops every third when all of it is there.
func addUntilKilled(repo string) error {
	for n := 1; ; n++ {
		m, err := Add(context.Background(), Options{Folder: repo, Title: "x", WithChanges: n%2 == 0})
		if err == nil {
			_, err = Bring(m.Repo, m.Path, []string{"ignored"}, nil)
		}
		if err == nil && n%3 == 0 {
			err = m.Drop()
		} else if err == nil {
			if err = m.Done(); err == nil {
				fmt.Println(m.Path)
			}
		}
		if err != nil {
			return err
		}
	}
}

// A power cut in the middle of the last step: git dies while it writes the user's files. The
// branch is where it was, and what lies there already is no obstacle.
func TestGitIsKilledWhileItWritesTheUsersFiles(t *testing.T) {
	for _, last := range []string{"b", "c"} { // the file at which it dies
		w := newWork(t)
		w.write("app/b", "b1\n", "app/c", "c1\n", "app/.gitattributes", last+" filter=deadly\n")
		w.git("add", "-A")
		w.git("commit", "-qm", "more files")
		tree := w.loopTree("x")
		w.writeTo(tree.Path, "b", "b2\n")
		w.writeTo(tree.Path, "c", "c2\n")
		before := w.git("rev-parse", "HEAD")
		w.git("config", "--global", "filter.deadly.smudge", "kill -9 $PPID")
		if _, err := Land(context.Background(), tree, LandOptions{}); err == nil {
			t.Fatalf("%s: git wasn't killed", last)
		}
		w.git("config", "--global", "--remove-section", "filter.deadly")
		if now := w.git("rev-parse", "HEAD"); now != before {
			t.Errorf("%s: HEAD is %s", last, now)
		}
		w.landed("a", "one\nmore\n") // it was begun
		w.landingRefused(tree, LandOptions{}, ReasonLocked)
		w.must(os.Remove(filepath.Join(w.repo, ".git", "index.lock")))
		_, err := Land(context.Background(), tree, LandOptions{})
		if refused, ok := errors.AsType[*Refused](err); ok { // what was half written, and nothing else
			if len(refused.Paths) != 1 || refused.Paths[0].Path != last {
				t.Errorf("%s: in the way are %+v", last, refused.Paths)
			}
			w.git("checkout", "--", last)
			w.land(tree, LandOptions{})
		} else {
			w.must(err)
		}
		for name, want := range map[string]string{"a": "one\nmore\n", "b": "b2\n", "c": "c2\n", "new file": "new\n"} {
			w.landed(name, want)
		}
		if left := w.git("status", "--porcelain"); left != "" {
			t.Errorf("%s: git status says %s", last, left)
		}
		w.isClean(tree)
	}
}
