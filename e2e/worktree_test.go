//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// TestThreeLoopsInThreeWorktrees has loops of pi and claude work in one repository at
// once: each waits in its tool until all three are there. The user's folder stays as it is.
func TestThreeLoopsInThreeWorktrees(t *testing.T) {
	repo := filepath.Join(paths.Real(t.TempDir()), "app")
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", repo, "-c", "user.name=Ann", "-c", "user.email=ann@example.com"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
		return string(out)
	}
	if err := os.MkdirAll(repo, 0o777); err != nil {
		t.Fatal(err)
	}
	git("init", "-qb", "main")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(repo, "work.txt"), "none\n")
	git("add", "-A")
	git("commit", "-qm", "first")
	write(filepath.Join(repo, "work.txt"), "mine\n")

	names := []string{"first", "second", "third"}
	var programs []*program
	for i, a := range []agent{pi, claude, pi} {
		p := prepare(t, a, fakemodel.Script{Turns: []fakemodel.Turn{
			does(a.bash("touch here; until test -e go; do sleep 0.1; done; echo " + names[i] + " > work.txt")), says("Done.\n\n<promise>DONE</promise>"),
		}})
		p.box.Dir = repo
		p.start(append(a.anyToolArgs(), "--worktree", "--completion-promise", "DONE", "--max-iterations", "2", "The "+names[i])...)
		programs = append(programs, p)
	}
	in := func(name, file string) string {
		return filepath.Join(repo+".worktrees", "the-"+name, file)
	}
	for i, name := range names {
		for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
			if _, err := os.Stat(in(name, "here")); err == nil {
				break
			}
			if time.Now().After(end) {
				programs[i].fatalf("it isn't at work")
			}
		}
	}
	for _, name := range names {
		write(in(name, "go"), "")
	}
	for i, p := range programs {
		if exit := p.wait(); exit != exitDone {
			p.fatalf("exit %d", exit)
		}
		if got, err := os.ReadFile(in(names[i], "work.txt")); string(got) != names[i]+"\n" {
			t.Errorf("%s did %q %v", names[i], got, err)
		}
		proctest.CheckNone(t, goneWithin, p.mark)
	}
	if got := git("status", "--porcelain"); got != " M work.txt\n" {
		t.Errorf("the user's folder: %q", got)
	}
	if got := git("worktree", "list"); strings.Count(got, "[ralph/the-") != 3 {
		t.Error(got)
	}
	if got := git("worktree", "prune", "--dry-run", "--verbose") + git("fsck", "--no-dangling"); strings.Contains(got, "error") || strings.Contains(got, "Removing") {
		t.Error(got)
	}
}
