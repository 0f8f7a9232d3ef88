package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func TestCommitsThatAreMadeFromNowOn(t *testing.T) {
	w := newWork(t)
	dir := filepath.Join(w.repo, "src")
	w.must(os.MkdirAll(dir, 0o700))
	since := Commits(dir)
	subjects := func() string {
		var said []string
		for _, commit := range since() {
			id, subject, _ := strings.Cut(commit, " ")
			if full := w.git("rev-parse", id); len(id) != 9 || !strings.HasPrefix(full, id) {
				t.Errorf("%s is %s", id, full)
			}
			said = append(said, subject)
		}
		return strings.Join(said, "|")
	}
	if got := subjects(); got != "" {
		t.Errorf("without a commit: %s", got)
	}
	w.git("commit", "-q", "--allow-empty", "-m", "One: it\n\nsays more")
	w.git("checkout", "-q", "-b", "other")
	w.git("commit", "-q", "--allow-empty", "-m", "Tow")
	w.git("commit", "-q", "--allow-empty", "--amend", "-m", "Two")
	if got := subjects(); got != "One: it|Two" {
		t.Errorf("got %s", got)
	}
	w.git("checkout", "-q", "-")
	w.git("cherry-pick", "--allow-empty", "other")
	w.git("reset", "-q", "--hard", "HEAD~1")
	if got := subjects(); got != "Two" {
		t.Errorf("got %s", got)
	}
	if got := subjects(); got != "" {
		t.Errorf("told twice: %s", got)
	}
	if got := Commits(t.TempDir())(); got != nil {
		t.Errorf("outside of a repository: %s", got)
	}
}

// Clones side by side, with or without a repository around them, and a submodule.
func TestCommitsInRepositoriesBelow(t *testing.T) {
	w := newWork(t)
	make := func(top, name string) (commit func(subject string)) {
		dir := filepath.Join(top, name)
		w.must(os.MkdirAll(dir, 0o700))
		run := func(args ...string) {
			w.git(append([]string{"-C", dir, "-c", "user.name=ann", "-c", "user.email=ann@localhost"}, args...)...)
		}
		run("init", "-q")
		run("commit", "-q", "--allow-empty", "-m", "first")
		return func(subject string) { run("commit", "-q", "--allow-empty", "-m", subject) }
	}
	side := t.TempDir()
	for top, want := range map[string]string{w.repo: "ours|apps/api: there|web: here", side: "apps/api: there|web: here"} {
		api, web := make(top, "apps/api"), make(top, "web")
		make(top, "node_modules/lib")
		since := Commits(top)
		if top == w.repo {
			w.git("commit", "-q", "--allow-empty", "-m", "ours")
		}
		web("here")
		api("there")
		var said []string
		for _, commit := range since() {
			where, rest, isBelow := strings.Cut(commit, ": ")
			if !isBelow {
				where, rest = "", commit
			}
			_, subject, _ := strings.Cut(rest, " ")
			said = append(said, strings.TrimPrefix(where+": "+subject, ": "))
		}
		slices.SortFunc(said, func(a, b string) int { return strings.Count(a, ":") - strings.Count(b, ":") })
		slices.Sort(said[strings.Count(want, "ours"):])
		if got := strings.Join(said, "|"); got != want {
			t.Errorf("%s: got %s, want %s", top, got, want)
		}
	}
}

func TestALogOfMovesIsReadInPart(t *testing.T) {
	name := filepath.Join(t.TempDir(), "HEAD")
	var log strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&log, "%040x %040x U <u@example.com> 1700000000 +0000\tcommit: number %d\n", i, i+1, i)
	}
	must.OK(t, os.WriteFile(name, []byte(log.String()), 0o600))
	made := commitsIn(textFrom(name, 0, sizeOf(name)))
	if n := len(made); n < 100 || n > maxNews/80 || !strings.HasSuffix(made[n-1], " number 3999") {
		t.Errorf("%d commits", n)
	}
	if got := textFrom(name, 9, 9) + textFrom(name+"x", 0, 9); got != "" {
		t.Errorf("got %q", got)
	}
}
