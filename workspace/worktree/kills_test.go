//go:build !race

package worktree

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// A process is killed at any moment of its starts, and every other time its git with it.
// What it had finished is whole, and the next start takes away all else.
// RALPH_TEST_KILLS says how often.
func TestKilledAtAnyMoment(t *testing.T) {
	w := newWork(t)
	w.write("app/a", "mine\n", "app/new", "mine\n", "app/ignored", "kept\n")
	for i := range 50 {
		w.write(fmt.Sprintf("app/many/%d", i), "much\n")
	}
	before := w.git("status", "--porcelain") + w.git("rev-parse", "main")
	kills, gits, unfinished, whole := proctest.Kills(10), 0, 0, map[string]bool{}
	for i := range kills {
		gits += proctest.KillAnywhere(t, 80*time.Millisecond, i%2 == 0, func(line string) { whole[line] = false }, "add-trees", w.repo)
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
	ctx, cancel := context.WithTimeout(context.Background(), proctest.Patience)
	defer cancel()
	var m *Making
	for begun := time.Now(); ; proctest.Pause(begun) { // a git that survived holds the record of its tree until it is done
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
