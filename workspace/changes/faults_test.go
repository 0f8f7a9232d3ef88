//go:build unix

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

	"github.com/ralph-lsp/ralph-lsp/internal/git"

	"github.com/google/go-cmp/cmp"
)

// scene is a folder as users have them. notes are what the loop's first snapshot
// tells of it.
type scene struct {
	name  string
	begin func(t testing.TB) *folder
	own   bool // the snapshots are in a repository of our own
	notes []string
}

// with is a repository to which something is done.
func with(do func(f *folder)) func(t testing.TB) *folder {
	return func(t testing.TB) *folder {
		t.Helper()
		f := repository(t, "work", ten, "other", "1\n", "far/away", "1\n", ".gitattributes", "*.up filter=up\n*.lost filter=lost\n*.own filter=own\n")
		do(f)
		return f
	}
}

// conflict makes two branches that can't be merged.
func conflict(f *folder) {
	f.git("switch", "-q", "-c", "branch")
	f.write("other", "2\n")
	f.git("commit", "-q", "-am", "branch")
	f.git("switch", "-q", "main")
	f.write("other", "3\n")
	f.git("commit", "-q", "-am", "main")
}

var scenes = []scene{
	{name: "clean", begin: with(func(*folder) {})},
	{name: "nothing committed", begin: func(t testing.TB) *folder {
		f := bare(t, "work", ten)
		f.git("init", "-q")
		return f
	}},
	{name: "HEAD is detached", begin: with(func(f *folder) { f.git("switch", "-q", "--detach") })},
	{name: "staged, stashed, to be added", begin: with(func(f *folder) {
		f.write("other", "2\n")
		f.git("stash", "push", "-q")
		f.write("other", "3\n", "new", "1\n")
		f.git("add", "other")
		f.git("add", "-N", "new")
	})},
	{name: "merge", begin: with(func(f *folder) { conflict(f); f.tried("merge", "-q", "branch") })},
	{name: "rebase", begin: with(func(f *folder) { conflict(f); f.tried("rebase", "-q", "branch") })},
	{name: "cherry-pick", begin: with(func(f *folder) { conflict(f); f.tried("cherry-pick", "branch") })},
	{name: "bisect", begin: with(func(f *folder) { conflict(f); f.git("bisect", "start", "HEAD", "HEAD~1") })},
	{name: "index.lock", begin: with(func(f *folder) { f.write(".git/index.lock", "") })},
	{name: "submodule", begin: with(func(f *folder) {
		lib := repository(f.t, "lib.c", "1\n")
		f.git("-c", "protocol.file.allow=always", "submodule", "-q", "add", lib.dir, "lib")
		f.git("commit", "-q", "-m", "with a submodule")
		f.write("lib/lib.c", "2\n")
	})},
	{name: "nested repository", begin: with(func(f *folder) {
		f.git("init", "-q", f.path("nested"))
		f.write("nested/file", "1\n")
	})},
	{name: "worktree", begin: with(func(f *folder) {
		dir := filepath.Join(f.t.TempDir(), "tree")
		f.git("worktree", "add", "-q", dir)
		f.dir = dir
	})},
	{name: "subfolder", begin: with(func(f *folder) { f.dir = f.path("far"); f.write("work", ten) })},
	{name: "ignored subfolder", own: true, begin: with(func(f *folder) {
		f.write(".gitignore", "built\n", "built/work", ten)
		f.dir = f.path("built")
	})},
	{name: "filters", begin: with(func(f *folder) {
		f.setForUser("filter.up.clean", "tr A-Z a-z")
		f.setForUser("filter.up.smudge", "tr a-z A-Z")
		f.setForUser("filter.up.required", "true")
		f.write("a.up", "ONE\n")
		f.git("add", "a.up")
	})},
	{name: "a filter that isn't installed", notes: []string{"a.lost (git update-index: a.lost: clean filter 'lost' failed: exit status 128)"}, begin: with(func(f *folder) {
		f.setForUser("filter.lost.clean", "exit 127")
		f.setForUser("filter.lost.required", "true")
		f.write("a.lost", "ONE\n")
	})},
	{name: "a filter that only the repository names", own: true, begin: with(func(f *folder) {
		f.git("config", "filter.own.clean", "tr A-Z a-z")
		f.git("config", "filter.own.smudge", "tr A-Z a-z")
		f.git("config", "filter.own.required", "true")
		f.write("a.own", "ONE\n")
	})},
	{name: "sparse checkout", begin: with(func(f *folder) { f.git("sparse-checkout", "set", "--no-cone", "/*", "!/far/") })},
	{name: "sparse index", begin: with(func(f *folder) { f.git("sparse-checkout", "set", "--cone", "--sparse-index", "near") })},
	{name: "split index", begin: with(func(f *folder) {
		f.git("update-index", "--split-index")
		f.write("other", "2\n")
		f.git("add", "other")
	})},
	{name: "untracked cache", begin: with(func(f *folder) { f.git("update-index", "--untracked-cache"); f.git("status") })},
	{name: "compressed index", begin: with(func(f *folder) { f.git("update-index", "--index-version", "4") })},
	{name: "ignored case", begin: with(func(f *folder) { f.git("config", "core.ignoreCase", "true") })},
	{name: "SHA-256", begin: func(t testing.TB) *folder {
		f := bare(t, "work", ten)
		f.git("init", "-q", "--object-format=sha256")
		f.git("add", "-A")
		return f
	}},
	{name: "packed refs and a commit graph", begin: with(func(f *folder) { f.git("pack-refs", "--all"); f.git("gc", "-q"); f.git("commit-graph", "write") })},
	{name: "shallow", begin: with(func(f *folder) {
		dir := filepath.Join(f.t.TempDir(), "clone")
		f.git("commit", "-q", "--allow-empty", "-m", "second")
		f.git("clone", "-q", "--depth=1", "file://"+f.dir, dir)
		f.dir = dir
	})},
	{name: "bare", own: true, begin: with(func(f *folder) { f.git("config", "core.bare", "true") })},
	{name: "no repository", own: true, begin: func(t testing.TB) *folder { return bare(t, "work", ten) }},
	{name: "read-only", own: true, begin: with(func(f *folder) { f.write("other", "2\n"); f.readOnly(".git") })},
}

// users is what is the user's: files, index, refs, reflogs, stash, configuration,
// and what git says of all that.
func (f *folder) users() string {
	f.t.Helper()
	var b strings.Builder
	for _, args := range [][]string{
		{"fsck", "--strict", "--no-dangling"}, {"status", "--porcelain=v2", "--branch", "--ignored"}, {"for-each-ref"}, {"reflog", "--all"}, // the stash, too
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = f.dir, append(os.Environ(), "GIT_OPTIONAL_LOCKS=0")
		out, _ := cmd.CombinedOutput()
		for line := range strings.Lines(string(out)) {
			if !strings.Contains(line, "refs/ralph/") && !strings.HasPrefix(line, "notice:") {
				b.WriteString(line)
			}
		}
	}
	cmd := exec.Command("git", "rev-parse", "--absolute-git-dir")
	cmd.Dir = f.dir
	if out, err := cmd.Output(); err == nil {
		for _, name := range []string{"index", "HEAD", "config", "info/exclude"} {
			data, _ := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), name))
			fmt.Fprintf(&b, "%s %q\n", name, data)
		}
	}
	for _, name := range []string{"work", "other", "far/away", "made/by", "lib/lib.c", "nested/file", "a.up", "a.lost", "a.own", "new"} {
		data, err := os.ReadFile(f.path(name))
		fmt.Fprintf(&b, "%s %q %t\n", name, data, err == nil)
	}
	return b.String()
}

// A loop works, all it did is undone, redone and undone again. Then all is as it
// was, wherever that happens.
func TestNothingOfTheUsersChangesAnywhere(t *testing.T) {
	t.Parallel()
	for _, sc := range scenes {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			f := sc.begin(t)
			before := f.users()
			same := func(when string) {
				t.Helper()
				if diff := cmp.Diff(before, f.users()); diff != "" {
					t.Errorf("%s: %s", when, diff)
				}
			}
			f.open("ralph-test")
			if taken := f.start(); !slices.Equal(taken.Notes, sc.notes) {
				t.Errorf("notes %q, want %q", taken.Notes, sc.notes)
			}
			if f.book.Own != sc.own {
				t.Errorf("a repository of our own: %t", f.book.Own)
			}
			same("after the first snapshot")
			f.after(1, "work", "one\n"+ten[2:], "made/by", "1\n")
			f.after(2, "work", "one\n"+ten[2:]+"eleven\n")
			f.changed(Range{0, 1}, "added made/by +1 -0", "modified work +1 -1")
			f.changed(Range{1, 2}, "modified work +1 -0")
			both := []string{"made/by", "work"}
			f.undo(Undo{Since: 1}, both)
			same("after the undo")
			f.redo(both)
			f.has("work", "one\n"+ten[2:]+"eleven\n", "made/by", "1\n")
			f.undo(Undo{Iteration: 2}, []string{"work"})
			f.undo(Undo{Iteration: 1}, both)
			same("in the end")
			f.opts.Keep = 0
			f.must(Prune(context.Background(), f.opts))
			same("without snapshots")
		})
	}
}

// What a snapshot that fails half-way has seen is in the next one, and no undo
// goes over it.
func TestASnapshotThatFailsHalfWay(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, begin func(t testing.TB, files ...string) *folder) {
		f := begin(t, "a", "1\n").loop()
		f.after(1, "a", "2\n")
		f.write("a", "mine\n")
		f.must(os.Mkdir(filepath.Join(f.home, tipName+".new"), 0o700))
		if _, err := f.Start(context.Background()); err == nil {
			t.Fatal("it didn't fail")
		}
		f.must(os.Remove(filepath.Join(f.home, tipName+".new")))
		f.undo(Undo{Iteration: 1}, nil, "a: "+whyEdited)
		f.has("a", "mine\n")
		f.changed(Range{1, Latest}, "modified a +1 -1")
	})
}

func TestALargeFileIsOnlyNoted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, begin func(t testing.TB, files ...string) *folder) {
		f := begin(t, "a", "1\n", "huge", "")
		f.must(os.Truncate(f.path("huge"), 5<<30)) // has no blocks
		f.open("ralph-test")
		if taken := f.start(); !slices.Equal(taken.Notes, []string{"huge (5.4 GB)"}) {
			t.Errorf("%q", taken.Notes)
		}
		undone := []string{"a"} // nobody knows what was in it, so nothing of it is undone
		isTracked := strings.HasSuffix(t.Name(), "/repository")
		if isTracked {
			undone = append(undone, "huge")
		}
		f.after(1, "a", "2\n", "huge", "1\n")
		f.undo(Undo{Iteration: 1}, undone)
		f.redo(undone)
		f.has("a", "2\n", "huge", "1\n")
		f.write("huge", gone)
		f.after(2)
		f.after(3, "huge", "another\n")
		f.changed(Range{2, 3}, "added huge +1 -0")

		f.must(os.Truncate(f.path("huge"), 5<<30))
		f.opts.MaxFile = 0 // without a limit for each there is one for all
		f.open("ralph-other")
		want := "huge (5.4 GB, and git doesn't track it: add it, or have git ignore it)"
		switch {
		case isTracked:
			want = "huge (5.4 GB)"
		case f.book.Own:
			want = "1 file with 5.4 GB, such as huge (beyond the first 2.1 GB: have git ignore what is no work, or say more in changes.max_mb)"
		}
		if taken := f.start(); !slices.Equal(taken.Notes, []string{want}) {
			t.Errorf("%q", taken.Notes)
		}
	})
}

func TestNamesThatDifferInCase(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, begin func(t testing.TB, files ...string) *folder) {
		f := begin(t, "name", "1\n", "dir/a", "1\n")
		if git.IgnoresCase(f.dir) {
			f.loop().write("name", gone, "Name", "2\n")
			f.after(1)
			f.changed(Range{0, 1}, "modified name +1 -1")
			f.undo(Undo{Iteration: 1}, []string{"name"})
			f.has("name", "1\n")
			return
		}
		f.write("Name", "2\n", "DIR/a", "2\n")
		f.loop()
		f.after(1, "name", "3\n", "NAME", "4\n", "Name", gone, "DIR/a", "5\n")
		f.changed(Range{0, 1}, "modified DIR/a +1 -1", "added NAME +1 -0", "deleted Name +0 -1", "modified name +1 -1")
		f.undo(Undo{Iteration: 1}, []string{"DIR/a", "NAME", "Name", "name"})
		f.has("name", "1\n", "Name", "2\n", "NAME", gone, "DIR/a", "2\n", "dir/a", "1\n")
	})
}

func TestAFolderThatIgnoresCase(t *testing.T) {
	t.Parallel()
	f := bare(t, "1", "")
	if git.IgnoresCase(f.dir) {
		t.Error("there is nothing with letters")
	}
	f.write("name", "")
	if git.IgnoresCase(f.dir) {
		t.Skip("this one does")
	}
	f.must(os.Link(f.path("name"), f.path("NAME"))) // as if it were one name
	if !git.IgnoresCase(f.dir) {
		t.Error("one file, and two names")
	}
	f.loop()
	if got := f.archive.git; got.Dir != f.dir {
		t.Error(got.Dir)
	}
	if out, err := f.archive.git.Text(context.Background(), nil, "config", "core.ignoreCase"); err != nil || out != "true" {
		t.Errorf("%q, %v", out, err)
	}
}

// An undone file can't be made without its filter. Nothing is written then, and
// the other files can be named.
func TestAFilterThatFailsAtAnUndo(t *testing.T) {
	t.Parallel()
	f := repository(t, "a", "1\n", ".gitattributes", "*.stuck filter=stuck\n", "a.stuck", "1\n")
	f.setForUser("filter.stuck.clean", "cat")
	f.setForUser("filter.stuck.smudge", "exit 1")
	f.setForUser("filter.stuck.required", "true")
	f.loop()
	f.after(1, "a", "2\n", "a.stuck", "2\n")
	if _, err := f.Undo(context.Background(), Undo{Iteration: 1}); err == nil || !strings.Contains(err.Error(), "a.stuck: smudge filter stuck failed") {
		t.Error(err)
	}
	f.has("a", "2\n", "a.stuck", "2\n")
	f.undo(Undo{Iteration: 1, Paths: []string{"a"}}, []string{"a"})
	f.has("a", "1\n", "a.stuck", "2\n")
}

// git isn't to look at a file: nothing of it is told, and nothing is undone.
func TestAFileThatGitIsNotToLookAt(t *testing.T) {
	t.Parallel()
	f := repository(t, "a", "1\n", "b", "1\n")
	f.git("update-index", "--assume-unchanged", "a")
	f.loop()
	f.after(1, "a", "2\n", "b", "2\n")
	f.changed(Range{0, 1}, "modified b +1 -1")
	f.undo(Undo{Since: 1}, []string{"b"})
	f.has("a", "2\n", "b", "1\n")
}

func TestWhichGitsPackManyFiles(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{"2.36.9": false, "2.37.0": true, "2.39.5 (Apple Git-154)": true, "3.0.1": true, "1.99": false, "new": false} {
		if got := git.PacksObjects("git version " + version); got != want {
			t.Errorf("%s: %t", version, got)
		}
	}
}
