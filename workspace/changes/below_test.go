package changes

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/workspace/changes/stamp"
)

// clone makes a repository below the folder, with its files committed.
func (f *folder) clone(name string, files ...string) *folder {
	f.t.Helper()
	inner := &folder{t: f.t, dir: f.path(name)}
	inner.write(files...)
	inner.git("init", "-q", "-b", "main")
	inner.git("config", "user.name", "ann")
	inner.git("config", "user.email", "ann@localhost")
	inner.git("config", "gc.auto", "0")
	inner.git("add", "-A")
	inner.git("commit", "-q", "-m", "first")
	return inner
}

// What a loop does in repositories below its folder is one review with the rest: it is shown, undone, and made again.
func TestRepositoriesBelowAreAPartOfTheReview(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(t testing.TB) *folder{
		"that git ignores":      func(t testing.TB) *folder { return repository(t, "a", "1\n", ".gitignore", "/api/\n") },
		"that git doesn't know": func(t testing.TB) *folder { return repository(t, "a", "1\n") },
		"without one above":     func(t testing.TB) *folder { return bare(t, "a", "1\n") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := begin(t)
			api := f.clone("api", "f", "1\n2\n3\n4\n5\n", "kept/old", "old\n", ".gitignore", "*.log\nout/\n")
			lib := f.clone("api/vendor/lib", "l", "1\n")
			api.write("out/big", "built\n", "secret", "mine\n")
			api.must(os.MkdirAll(api.path(".git/info"), 0o755))
			api.must(os.WriteFile(api.path(".git/info/exclude"), []byte("# mine\nsecret\n"), 0o644))
			f.open("ralph-test")
			if taken := f.start(); len(taken.Notes) > 0 || taken.Blind {
				t.Errorf("at the start: %+v", taken)
			}
			before := api.git("status", "--porcelain") + api.git("rev-parse", "HEAD")
			api.write("f", "1\n2\n3\n4\nfive\n", "new", "n\n", "kept/old", gone, "a.log", "log\n", "out/big", "anew\n", "secret", "still mine\n")
			lib.write("l", "2\n")
			f.after(1, "a", "2\n")
			f.changed(Range{0, 1}, "modified a +1 -1", "modified api/f +1 -1", "deleted api/kept/old +0 -1", "added api/new +1 -0", "modified api/vendor/lib/l +1 -1")
			api.git("add", "-A")
			api.git("commit", "-q", "-m", "second")
			api.write("f", "one\n2\n3\n4\nfive\n") // the user's
			f.undo(Undo{Iteration: 1}, []string{"a", "api/f", "api/kept/old", "api/new", "api/vendor/lib/l"})
			f.has("a", "1\n", "api/f", "one\n2\n3\n4\n5\n", "api/kept/old", "old\n", "api/new", gone, "api/vendor/lib/l", "1\n",
				"api/a.log", "log\n", "api/out/big", "anew\n", "api/secret", "still mine\n")
			f.redo([]string{"a", "api/f", "api/kept/old", "api/new", "api/vendor/lib/l"})
			f.has("api/f", "one\n2\n3\n4\nfive\n", "api/new", "n\n", "api/kept/old", gone)
			if got := api.git("log", "--format=%s"); got != "second\nfirst\n" {
				t.Errorf("its commits are %q", got)
			}
			if refs := api.git("for-each-ref", "--format=%(refname)"); refs != "refs/heads/main\n" || before == "" {
				t.Errorf("its refs are %q", refs)
			}
		})
	}
}

// An undo says that a commit stays where it is, whichever repository has it.
func TestAnUndoTellsOfCommitsBelow(t *testing.T) {
	t.Parallel()
	f := repository(t, "a", "1\n", ".gitignore", "/api/\n")
	api := f.clone("api", "f", "1\n")
	f.loop()
	api.write("f", "2\n")
	f.after(1)
	if done, err := f.Undo(t.Context(), Undo{Iteration: 1, DryRun: true}); err != nil || done.HeadMoved {
		t.Errorf("without a commit: %+v, %v", done, err)
	}
	commit := exec.Command("git", "commit", "-q", "-am", "the agent's")
	commit.Dir, commit.Env = api.dir, append(os.Environ(), "GIT_COMMITTER_DATE=4070908800 +0000")
	f.must(commit.Run())
	if done, err := f.Undo(t.Context(), Undo{Iteration: 1, DryRun: true}); err != nil || !done.HeadMoved {
		t.Errorf("with one: %+v, %v", done, err)
	}
}

// A submodule is one of them; its commit in the index above stays.
func TestASubmoduleIsAPartOfTheReview(t *testing.T) {
	t.Parallel()
	f := repository(t, "a", "1\n")
	f.clone("lib", "l", "1\n")
	f.write(".gitmodules", "[submodule \"lib\"]\n\tpath = lib\n\turl = ./lib\n[submodule \"none\"]\n\tpath = none\n\turl = ./none\n")
	f.git("add", "lib", ".gitmodules")
	f.git("commit", "-q", "-m", "with a submodule")
	f.open("ralph-test")
	if taken := f.start(); len(taken.Notes) > 0 || taken.Blind {
		t.Errorf("at the start: %+v", taken)
	}
	f.after(1, "lib/l", "2\n", "lib/new", "1\n")
	f.changed(Range{0, 1}, "modified lib/l +1 -1", "added lib/new +1 -0")
	f.undo(Undo{Iteration: 1}, []string{"lib/l", "lib/new"})
	f.has("lib/l", "1\n", "lib/new", gone)
	if got := f.git("status", "--porcelain"); got != "" {
		t.Errorf("the repository above is changed: %q", got)
	}
	if f.IsWhole() {
		t.Error("a tree with its files isn't one of the repository above")
	}
}

// A tool that writes to what a repository below ignores has done something that no snapshot shows.
func TestWhichFilesBelowShow(t *testing.T) {
	t.Parallel()
	f := repository(t, "a", "1\n", ".gitignore", "/api/\n/other/\n")
	f.clone("api", "f", "1\n", ".gitignore", "*.log\n")
	f.loop()
	for name, want := range map[string]bool{"api/f": true, "api/new": true, "api/x.log": false, "other/f": false} {
		f.write(name, "1\n")
		if got := f.Shows(t.Context(), f.path(name)); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// What can't be in snapshots is told, and nobody claims that nothing happened there.
func TestARepositoryBelowThatSnapshotsDontHave(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, begin func(t testing.TB, files ...string) *folder) {
		f := begin(t, "a", "1\n", ".gitignore", "/.tool/\n/late/\n")
		tool := f.clone(".tool/cache", "f", "1\n")
		f.open("ralph-test")
		if taken := f.start(); !slices.Equal(taken.Notes, []string{".tool/cache/ (a repository of its own)"}) {
			t.Errorf("it notes %q", taken.Notes)
		}
		last, err := f.After(context.Background(), 1)
		f.must(err)
		isNews := func(n int, want bool) {
			t.Helper()
			taken, err := f.After(context.Background(), n)
			if f.must(err); (taken.State != last.State) != want || taken.Blind {
				t.Errorf("iteration %d: %+v, before %+v", n, taken.State, last.State)
			}
			last = taken
		}
		isNews(2, false)
		tool.write("f", "2\n")
		isNews(3, true)
		tool.git("commit", "-q", "-a", "-m", "second")
		isNews(4, true)
		late := f.clone("late", "f", "1\n")
		f.write("a", "2\n")
		isNews(5, true)
		if !slices.Contains(last.Notes, "late/ (a repository of its own)") {
			t.Errorf("one that a run has made: %q", last.Notes)
		}
		late.write("f", "2\n")
		isNews(6, true)
		f.changed(Range{0, Latest}, "modified a +1 -1")
		for i := range stamp.Small + 1 {
			tool.write(fmt.Sprintf("many/%d", i), "1\n")
		}
		taken, err := f.After(context.Background(), 7)
		if f.must(err); !taken.Blind {
			t.Error("a large one is seen")
		}
		f.open("ralph-test") // it goes on
		f.start()
		f.after(8, "late/f", "3\n")
		f.changed(Range{7, 8}, "modified late/f +1 -1")
	})
}

// One whose .git is gone, or whose index can't be read, keeps what is known of it.
func TestARepositoryBelowThatIsBroken(t *testing.T) {
	t.Parallel()
	f := repository(t, "a", "1\n", ".gitignore", "/api/\n")
	f.clone("api", "f", "1\n", "g", "1\n")
	f.loop()
	f.write("api/.git/index", "no index")
	taken := f.after(1, "api/f", "2\n")
	if len(taken.Notes) != 1 || !strings.HasPrefix(taken.Notes[0], "api/ (its new files, as git ls-files: ") || !taken.Blind {
		t.Errorf("%+v", taken)
	}
	f.write("api/.git", gone)
	f.after(2, "api/g", "2\n", "api/new", "1\n")
	f.changed(Range{0, 2}, "modified api/f +1 -1", "modified api/g +1 -1", "added api/new +1 -0")
	f.undo(Undo{Since: 1}, []string{"api/f", "api/g", "api/new"})
	f.write("api", gone)
	f.must(os.Symlink(t.TempDir(), f.path("api")))
	f.after(3)
	f.changed(Range{2, 3}, "added api +1 -0", "deleted api/f +0 -1", "deleted api/g +0 -1")
}

// Nothing runs, and nobody is believed, that a repository below the folder names.
func TestARepositoryBelowIsNotObeyed(t *testing.T) {
	t.Parallel()
	f := repository(t, "a", "1\n", ".gitignore", "/api/\n")
	api := f.clone("api", "f", "1\n", ".gitattributes", "* filter=evil\n")
	ran := filepath.Join(t.TempDir(), "ran")
	for key, value := range map[string]string{"filter.evil.clean": "touch " + ran, "core.fsmonitor": "touch " + ran, "core.worktree": t.TempDir(), "core.excludesFile": api.path("f")} {
		api.git("config", key, value)
	}
	f.loop()
	f.after(1, "api/f", "2\n", "api/new", "1\n")
	f.changed(Range{0, 1}, "modified api/f +1 -1", "added api/new +1 -0")
	if _, err := os.Lstat(ran); err == nil {
		t.Error("a program ran that it names")
	}
}

// One that is too large joins none: a part of it would be no review.
func TestALargeRepositoryBelowIsLeftOut(t *testing.T) {
	t.Parallel()
	f := repository(t, "a", "1\n", ".gitignore", "/*/\n")
	f.opts.MaxKept = 4000
	f.clone("big", "f", strings.Repeat("x", 3000))
	f.clone("small", "f", "1\n")
	f.open("ralph-test")
	if taken := f.start(); !slices.Equal(taken.Notes, []string{"big/ (a repository of its own, too large: 1 file with 3.0 kB)"}) {
		t.Errorf("it notes %q", taken.Notes)
	}
	f.after(1, "big/f", "2\n", "small/f", "2\n")
	f.changed(Range{0, 1}, "modified small/f +1 -1")
}
