//go:build e2e

package e2e

import (
	"strings"
	"testing"
)

func TestLoopsLandOneBehindTheOtherOrNotAtAll(t *testing.T) {
	w := newWorld(t)
	w.worker("first", 3, w.addr, long)
	for name, words := range map[string]string{"one": "runs=1", "same": "runs=1", "other": "runs=2", "limited": "runs=9"} {
		w.submit(name, words, "--max-iterations", "2")
	}
	for _, name := range []string{"one", "same", "other", "limited"} {
		w.ends(name)
	}
	w.write("repo/a.txt", "the user's\n")
	land := func(args ...string) (string, error) {
		return w.run(append([]string{"land", "--into", w.repo}, args...)...)
	}
	head := func() string { return w.git("-C", w.repo, "rev-parse", "HEAD") }
	base := head()
	for _, args := range [][]string{{"one", "other"}, {"--dry-run", "one", "other"}, {"--all-done"}} {
		out, err := land(args...)
		if err == nil || !strings.Contains(err.Error(), " can't land; name the others to land those\nralph/") || !strings.Contains(err.Error(), "changed the same places: count; let a loop do it: ralph-lsp run --worktree=ralph/") || strings.Contains(err.Error(), "limited") {
			t.Errorf("land %v: %s, %v", args, out, err)
		}
		if head() != base {
			t.Fatalf("land %v landed something", args)
		}
	}
	out, err := land("--describe", "one")
	if err != nil || !strings.HasPrefix(out, "name=one runs=1\n\n> name=one runs=1\n\n- Result: `done: DONE after 1 iteration ") || !strings.Contains(out, "\n- Changes: 1 file, +1 -0\n  - `count` +1 -0\n") || head() != base {
		t.Errorf("a pull request says %s, %v", out, err)
	}
	if out, err := land("--describe", "one", "limited"); err != nil || !strings.Contains(out, ", and 1 more\n\n## `") || strings.Count(out, "\n## ") != 2 || head() != base {
		t.Errorf("a pull request of two says %s, %v", out, err)
	}
	if out, err := land("--dry-run", "one", "same"); err != nil || !strings.Contains(out, "would land 1 commit of ralph/one on ") || head() != base {
		t.Errorf("%s, %v", out, err)
	}
	out, err = land("one", "same")
	if err != nil || !strings.Contains(out, "landed 1 commit of ralph/one on ") || w.git("-C", w.repo, "show", "HEAD:count") != "1" {
		t.Errorf("%s, %v", out, err)
	}
	if status := w.git("-C", w.repo, "status", "--porcelain"); status != "M a.txt" {
		t.Errorf("of the user's work is left %q", status)
	}
	if out, err := land("one"); err != nil || !strings.Contains(out, "nothing to land") {
		t.Errorf("again: %s, %v", out, err)
	}
	w.write("repo/count", "the user's\n")
	if out, err := land("limited"); err == nil || !strings.Contains(err.Error(), "nothing landed: of 1 loop, 1 can't land") {
		t.Errorf("over what isn't committed: %s, %v", out, err)
	}
}
