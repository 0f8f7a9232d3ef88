package worktree

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

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
			_, err = m.Bring([]string{"ignored"}, nil)
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

// A process is killed at any moment of its starts, and every other time its git with it.
// What it had finished is whole, and the next start takes away all else.
// RALPH_TEST_KILLS says how often.
func TestKilledAtAnyMoment(t *testing.T) {
	kills := 10
	if n, err := strconv.Atoi(os.Getenv("RALPH_TEST_KILLS")); err == nil {
		kills = n
	}
	w := newWork(t)
	w.write("app/a", "mine\n", "app/new", "mine\n", "app/ignored", "kept\n")
	for i := range 50 {
		w.write(fmt.Sprintf("app/many/%d", i), "much\n")
	}
	before := w.git("status", "--porcelain") + w.git("rev-parse", "main")
	program, err := os.Executable()
	w.must(err)
	gits, unfinished, whole := 0, 0, map[string]bool{}
	for i := range kills {
		cmd := exec.Command(program, "add-trees", w.repo)
		var complaint strings.Builder
		cmd.Stderr = &complaint
		out, err := cmd.StdoutPipe()
		w.must(err)
		w.must(cmd.Start())
		said := bufio.NewScanner(out)
		for rand.IntN(2) > 0 && said.Scan() {
			whole[said.Text()] = false
		}
		time.Sleep(time.Duration(rand.IntN(80)) * time.Millisecond) // any moment
		var children []int
		if i%2 == 0 {
			children = proctest.Children(cmd.Process.Pid)
		}
		cmd.Process.Kill()
		for _, pid := range children {
			if git, err := os.FindProcess(pid); err == nil && git.Kill() == nil {
				gits++
			}
		}
		for said.Scan() { // what it had said
			whole[said.Text()] = false
		}
		if cmd.Wait(); complaint.Len() > 0 {
			t.Fatal(complaint.String())
		}
		if records, _ := filepath.Glob(filepath.Join(w.repo, ".git/ralph/*.json")); len(records) > 0 {
			unfinished++
		}
		w.nothingHalf(whole)
	}
	t.Logf("%d kills, %d gits with them; %d left an unfinished tree; %d are whole", kills, gits, unfinished, len(whole))
	if after := w.git("status", "--porcelain") + w.git("rev-parse", "main"); after != before {
		t.Errorf("the user's files or branch are others: %s, before %s", after, before)
	}
}

// nothingHalf starts once more, and wants what then is there to be whole: the known
// trees, perhaps one that was finished unheard, and nothing besides.
func (w *work) nothingHalf(known map[string]bool) {
	w.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var m *Making
	for { // a git that survived holds the record of its tree until it is done
		var err error
		m, err = Add(ctx, Options{Folder: w.repo, Title: "next"})
		w.must(err)
		w.must(m.Drop())
		if records, _ := filepath.Glob(filepath.Join(w.repo, ".git/ralph/*.json")); len(records) == 0 {
			break
		}
		if ctx.Err() != nil {
			w.Fatal("an unfinished tree stays")
		}
		time.Sleep(5 * time.Millisecond)
	}
	trees := map[string]bool{}
	for _, tree := range List(w.repo) {
		trees[tree.Path] = true
		if known[tree.Path] {
			continue // it was whole at the last look
		}
		if got := w.gitIn(tree.Path, "status", "--porcelain"); got != "" {
			w.Errorf("%s isn't whole:\n%s", tree.Path, got)
		}
		w.has(filepath.Join(tree.Path, "ignored"), "kept\n")
	}
	for path := range known {
		if !trees[path] {
			w.Errorf("%s is gone", path)
		}
	}
	for path := range trees {
		known[path] = true
	}
	count := len(trees)
	folders, _ := filepath.Glob(filepath.Join(w.dir, "app.worktrees", "*"))
	admins, _ := filepath.Glob(filepath.Join(w.repo, ".git", "worktrees", "*"))
	branches := strings.Count(w.git("branch", "--list", "ralph/*"), "\n")
	listed := strings.Count(w.git("worktree", "list"), "\n") - 1
	if len(folders) != count || len(admins) != count || branches != count || listed != count {
		w.Errorf("%d trees are whole; %d folders, %d of git's, %d branches, %d listed", count, len(folders), len(admins), branches, listed)
	}
	if out := w.git("worktree", "prune", "--dry-run", "--verbose"); out != "" {
		w.Errorf("git would prune: %s", out)
	}
	if out := w.git("fsck", "--strict", "--no-dangling"); strings.Contains(out, "error") || strings.Contains(out, "missing") {
		w.Error(out)
	}
	if locks, _ := filepath.Glob(filepath.Join(w.repo, ".git", "refs", "heads", "ralph", "*.lock")); len(locks) > 0 {
		w.Errorf("left behind: %q", locks)
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
