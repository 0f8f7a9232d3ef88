//go:build e2e

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// TestThreeLoopsLand has real agents work in three worktrees of one repository at once: each waits in its
// tool until all three are there. What they did lands one after the other; one of them has a conflict.
func TestThreeLoopsLand(t *testing.T) {
	work := []struct {
		agent
		file, text, title string
	}{{pi, "shared.txt", "pi was here\n", "First"}, {claude, "other.txt", "claude was here\n", "Second"}, {pi, "shared.txt", "so was this\n", "Third"}}
	var loops []*program
	for i, w := range work {
		p := prepare(t, w.agent, fakemodel.Script{Turns: []fakemodel.Turn{
			does(w.bash("touch here; " + untilThere("go") + "; rm here go")), does(w.write(w.file, w.text)), says("Wrote " + w.file + ". It is done.\n\n<promise>DONE</promise>"),
		}})
		if i > 0 {
			p.box.Dir = loops[0].box.Dir
		}
		loops = append(loops, p)
	}
	repo := loops[0].box.Dir
	sh := func(command string) string {
		t.Helper()
		cmd := loops[0].box.Command(context.Background(), "sh", "-ec", command)
		cmd.Dir = repo
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
		return string(out)
	}
	sh("git init -qb main; git config user.name Ann; git config user.email ann@localhost; echo old > mine.txt; git add .; git commit -qm first; echo mine > mine.txt")
	for i, p := range loops {
		p.start(append(work[i].anyToolArgs(), "--worktree", "--commit", "--max-iterations", "2", "--completion-promise", "DONE", work[i].title)...)
	}
	in := func(i int, file string) string {
		return filepath.Join(repo+".worktrees", strings.ToLower(work[i].title), file)
	}
	for i, p := range loops {
		if p.poll("work", func() bool { return exists(in(i, "here")) }) {
			p.fatalf("ended before it worked")
		}
	}
	for i := range loops {
		if err := os.WriteFile(in(i, "go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range loops {
		if exit := p.wait(); exit != exitDone {
			p.fatalf("exit %d", exit)
		}
		proctest.CheckNone(t, goneWithin, p.mark)
	}
	if got := sh("git status --porcelain; git worktree list | grep -c '\\[ralph/'; git worktree prune --dry-run --verbose; git fsck --no-dangling 2>&1"); got != " M mine.txt\n3\n" {
		t.Errorf("the user's folder: %q", got)
	}
	land := func(i int, want string, more ...string) {
		t.Helper()
		args := append([]string{"land", "-C", repo, strings.ToLower(work[i].title)}, more...)
		out, err := loops[i].box.Command(context.Background(), ralph, args...).CombinedOutput()
		if !strings.Contains(string(out), want) || (err == nil) != strings.HasPrefix(want, "landed") {
			t.Fatalf("%s: %s (%v), want %q", work[i].title, out, err, want)
		}
	}
	land(0, "landed 1 commit of ralph/first on main (1 file); the worktree is removed")
	land(1, "landed 2 commits of ralph/second on main")
	before := sh("git rev-parse HEAD; git status --porcelain; cat shared.txt")
	land(2, "in the way: shared.txt: both changed the same lines")
	if after := sh("git rev-parse HEAD; git status --porcelain; cat shared.txt"); after != before {
		t.Errorf("a refusal changed %q to %q", before, after)
	}
	sh("cd ../" + filepath.Base(repo) + ".worktrees/third; git merge -q main || true; echo both > shared.txt; git add .; git commit -qm solved")
	land(2, "landed", "--squash", "-m", "Both")
	for name, want := range map[string]string{"shared.txt": "both\n", "other.txt": work[1].text, "mine.txt": "mine\n"} {
		if data, err := os.ReadFile(filepath.Join(repo, name)); err != nil || string(data) != want {
			t.Errorf("%s has %q (%v), want %q", name, data, err, want)
		}
	}
	if log := sh("git log --format='%an %s' --no-merges"); log != "Ann Both\nAnn Wrote other.txt\nAnn Wrote shared.txt\nAnn first\n" && log != "Ann Both\nAnn Wrote shared.txt\nAnn Wrote other.txt\nAnn first\n" {
		t.Errorf("the log is %q", log)
	}
	if left := sh("git worktree list | wc -l; git status --porcelain; git for-each-ref refs/heads/ralph; git fsck --no-dangling 2>&1"); strings.TrimSpace(left) != "1\n M mine.txt" {
		t.Errorf("left: %q", left)
	}
}
