//go:build e2e

package e2e

import (
	"strings"
	"testing"
)

func TestLoopsLandOneBehindTheOther(t *testing.T) {
	w := newWorld(t)
	w.worker("first", 3, w.addr, long)
	for _, loop := range [][2]string{{"one", "runs=1"}, {"same", "runs=1"}, {"other", "runs=2"}, {"limited", "runs=9"}} {
		w.submit(loop[0], loop[1], "--max-iterations", "2")
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
	const conflict = "\nralph/other and ralph/one changed the same places: count; when that has landed, let a loop do it: ralph-lsp run --worktree=ralph/other "
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"one", "other"}, "nothing landed: of 2 loops, 1 can't land; name the others to land those" + conflict},
		{[]string{"--dry-run", "one", "other"}, "1 can't land; name the others to land those" + conflict},
		{[]string{"--dry-run", "--all-done"}, "of 3 loops, 1 can't land" + conflict},
	} {
		args := tt.args
		out, err := land(args...)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "limited") {
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
	out, err = land("--all-done")
	if err == nil || !strings.Contains(err.Error(), "of 3 loops, 1 can't land"+conflict) || !strings.Contains(out, "landed 1 commit of ralph/one on ") || w.git("-C", w.repo, "show", "HEAD:count") != "1" {
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
