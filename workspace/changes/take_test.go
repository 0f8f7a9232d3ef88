package changes

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// each runs a test in a repository and in a folder that is none.
func each(t *testing.T, test func(t *testing.T, begin func(t testing.TB, files ...string) *folder)) {
	t.Run("repository", func(t *testing.T) { t.Parallel(); test(t, repository) })
	t.Run("folder", func(t *testing.T) { t.Parallel(); test(t, bare) })
	t.Run("subfolder", func(t *testing.T) {
		t.Parallel()
		test(t, func(t testing.TB, files ...string) *folder {
			f := repository(t, "outside", "1\n")
			f.dir = filepath.Join(f.dir, "sub")
			f.must(os.Mkdir(f.dir, 0o755))
			f.write(files...)
			return f
		})
	})
}

// A loop that leaves its process at once cuts its first git off, and goes on elsewhere.
func TestAGitThatIsCutOffMakesNoRepositoryOfOurs(t *testing.T) {
	t.Parallel()
	f := repository(t, "a", "1\n")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Create(ctx, f.dir, "ralph-test", f.opts, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	f.loop()
	f.after(1, "a", "2\n")
	if out := f.git("for-each-ref", "refs/ralph"); !strings.Contains(out, "refs/ralph/") {
		t.Errorf("no snapshot is in the repository: %q", out)
	}
}

func TestEachIterationTellsWhatChanged(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, begin func(t testing.TB, files ...string) *folder) {
		f := begin(t, "a", "1\n2\n", "b", "b\n", "x", "x\n", "bin", "\x00\x01", "old", "some\nlines\nto\nknow\nit\nby\n").loop()
		taken := f.after(1, "a", "1\n3\n4\n", "new/c", "c\n", "b", gone, "bin", "\x00\x02")
		if want := (Summary{Files: 4, Added: 3, Removed: 2}); taken.Summary != want {
			t.Errorf("%+v, want %+v", taken.Summary, want)
		}
		f.write("old", gone, "renamed", "some\nlines\nto\nknow\nit\nby\n")
		f.must(os.Chmod(f.path("x"), 0o755))
		f.must(os.Symlink("a", f.path("link")))
		f.after(2)
		if taken := f.after(3); taken.Summary != (Summary{}) {
			t.Errorf("an iteration that changed nothing: %+v", taken)
		}
		f.after(4, "a", "1\n2\n")
		f.changed(Range{0, 1}, "modified a +2 -1", "deleted b +0 -1", "modified bin +0 -0 binary", "added new/c +1 -0")
		f.changed(Range{1, 2}, "added link +1 -0", "renamed renamed +0 -0 from old", "mode x +0 -0")
		f.changed(Range{2, 3})
		f.changed(Range{3, 4}, "modified a +1 -2")
		f.changed(Range{1, 4}, "modified a +1 -2", "added link +1 -0", "renamed renamed +0 -0 from old", "mode x +0 -0")
		f.changed(Range{0, Latest}, "deleted b +0 -1", "modified bin +0 -0 binary", "added link +1 -0", "added new/c +1 -0", "renamed renamed +0 -0 from old", "mode x +0 -0")
		f.changed(Range{7, 8})
		patch, err := f.Patch(context.Background(), Range{0, 1}, []string{"new"})
		if err != nil || !strings.Contains(string(patch), "+++ b/new/c\n@@ -0,0 +1 @@\n+c\n") || strings.Contains(string(patch), "bin") {
			t.Errorf("%s, %v", patch, err)
		}
	})
}

func TestNamesMayHaveAnyBytes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, begin func(t testing.TB, files ...string) *folder) {
		names := []string{" a b", "\"q\"", "-n", ":(top)x", "line\nbreak", "tab\tend", "\xff\xfe", "*?[x]", "ünï"}
		f := begin(t, "a", "1\n").loop()
		for _, name := range names {
			f.write(name, "1\n")
		}
		f.after(1)
		files, err := f.Files(context.Background(), Range{0, 1}, nil)
		var got []string
		for _, file := range files {
			got = append(got, file.Path)
		}
		slices.Sort(got)
		slices.Sort(names)
		if err != nil || !slices.Equal(got, names) {
			t.Fatalf("%q, want %q, %v", got, names, err)
		}
		f.undo(Undo{Iteration: 1}, names)
		f.has(slices.Concat([]string{"a", "1\n"}, pairs(names, gone))...)
		f.redo(names)
		f.has(pairs(names, "1\n")...)
	})
}

func pairs(names []string, content string) []string {
	var all []string
	for _, name := range names {
		all = append(all, name, content)
	}
	return all
}

func TestNothingOfTheUsersChanges(t *testing.T) {
	f := repository(t, "a", "1\n", "staged", "1\n", "kept", "1\n")
	f.write("staged", "2\n")
	f.git("add", "staged")
	f.write("kept", "2\n")
	f.git("stash", "push", "-q", "kept")
	f.git("config", "core.logAllRefUpdates", "always")
	f.git("config", "commit.gpgSign", "true")
	f.git("config", "gpg.program", "/nowhere")
	hooks(t, f)
	f.write("untracked", "1\n", ".git/MERGE_HEAD", strings.TrimSpace(f.git("rev-parse", "HEAD"))+"\n", ".git/index.lock", "")
	before := f.userState()
	t.Setenv("GIT_DIR", "/nowhere")
	t.Setenv("GIT_INDEX_FILE", "/nowhere/index")
	t.Setenv("GIT_CONFIG_PARAMETERS", "'core.bare=true'")
	f.loop()
	f.after(1)
	if after := f.userState(); after != before {
		t.Errorf("it was\n%s\nand is\n%s", before, after)
	}
	f.write("a", "2\n")
	before = f.userState()
	f.after(1)
	if after := f.userState(); after != before {
		t.Errorf("it was\n%s\nand is\n%s", before, after)
	}
	f.changed(Range{0, 1}, "modified a +1 -1")
	for _, name := range []string{"GIT_DIR", "GIT_INDEX_FILE", "GIT_CONFIG_PARAMETERS"} {
		os.Unsetenv(name)
	}
	os.Remove(f.path(".git/index.lock"))
	if out := f.git("-c", "core.fsmonitor=false", "fsck", "--strict"); strings.Contains(out, "error") {
		t.Error(out)
	}
}

// hooks makes each hook, and whatever else a repository can have run, write a file.
func hooks(t *testing.T, f *folder) {
	t.Helper()
	ran := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "program")
	f.must(os.WriteFile(program, []byte("#!/bin/sh\necho \"$0 $*\" >> "+ran+"\ncat\n"), 0o755))
	for _, hook := range []string{"post-index-change", "reference-transaction", "pre-auto-gc", "post-checkout", "pre-commit", "post-commit"} {
		f.must(os.MkdirAll(f.path(".git/hooks"), 0o755))
		f.must(os.Symlink(program, f.path(".git/hooks/"+hook)))
	}
	for _, key := range []string{"core.fsmonitor", "diff.external", "diff.evil.textconv", "diff.evil.command", "core.pager", "core.editor", "core.askPass", "merge.evil.driver"} {
		f.git("config", key, program)
	}
	f.write(".git/info/attributes", "* diff=evil merge=evil\n")
	t.Cleanup(func() {
		if out, err := os.ReadFile(ran); err == nil {
			t.Errorf("programs of the repository's were run:\n%s", out)
		}
	})
}

func TestUndoRunsNothingOfTheRepositorys(t *testing.T) {
	t.Parallel()
	f := repository(t, "a", "1\n2\n3\n4\n5\n")
	hooks(t, f)
	f.loop()
	f.after(1, "a", "0\n2\n3\n4\n5\n")
	f.write("a", "0\n2\n3\n4\n6\n")
	f.undo(Undo{Iteration: 1}, []string{"a"})
	f.has("a", "1\n2\n3\n4\n6\n")
	if _, err := f.Patch(context.Background(), Range{0, 1}, nil); err != nil {
		t.Error(err)
	}
}

func TestWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, begin func(t testing.TB, files ...string) *folder) {
		f := begin(t, "a", "1\n", ".gitignore", "ignored\n", ".pi/ours.md", "1\n", ".pi/settings", "1\n")
		f.loop()
		f.write("nested/file", "1\n")
		inner := *f
		inner.dir = f.path("nested")
		inner.git("init", "-q")
		f.write("big", strings.Repeat("x", 2<<20), "ignored", "1\n", ".pi/ours.md", "2\n", ".pi/settings", "2\n", "jotted", "1\n", "jotted2", "1\n")
		f.must(os.WriteFile(f.path("secret"), []byte("1\n"), 0o000))
		taken := f.after(1)
		want := []string{"nested/ (a repository of its own)", "big (2.1 MB)"}
		secret := "added secret +1 -0"
		if os.Getuid() != 0 {
			want, secret = append(want, "secret (not readable)"), ""
		}
		slices.Sort(want)
		slices.Sort(taken.Notes)
		if !slices.Equal(taken.Notes, want) {
			t.Errorf("%q, want %q", taken.Notes, want)
		}
		f.changed(Range{0, 1}, slices.DeleteFunc([]string{"modified .pi/settings +1 -1", "added jotted2 +1 -0", secret}, func(s string) bool { return s == "" })...)
	})
}

func TestABrokenRepositoryGetsOneBesides(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(f *folder){
		"index":   func(f *folder) { f.write(".git/index", "no index") },
		"config":  func(f *folder) { f.write(".git/config", "[no config") },
		"HEAD":    func(f *folder) { f.write(".git/HEAD", gone) },
		"bare":    func(f *folder) { f.git("config", "core.bare", "true") },
		"ignored": func(f *folder) { f.write("sub/.gitkeep", "", ".git/info/exclude", "sub\n"); f.dir = f.path("sub") },
		"refs":    func(f *folder) { f.write(".git/refs/ralph", "in the way") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := repository(t)
			harm(f)
			f.write("a", "1\n")
			f.loop()
			f.after(1, "a", "2\n")
			f.changed(Range{0, 1}, "modified a +1 -1")
			if !f.book.Own {
				t.Error("it isn't our own repository")
			}
			f.undo(Undo{Iteration: 1}, []string{"a"})
			f.has("a", "1\n")
		})
	}
}

func TestTheAgentsOwnCommitsAndBranches(t *testing.T) {
	t.Parallel()
	f := repository(t, "a", "1\n", "b", "1\n").loop()
	f.write("a", "2\n")
	f.git("commit", "-q", "-am", "the agent's")
	f.git("switch", "-q", "-c", "other")
	f.after(1)
	f.changed(Range{0, 1}, "modified a +1 -1")
	f.git("reset", "-q", "--hard", "main~1")
	f.after(2)
	f.changed(Range{1, 2}, "modified a +1 -1")
	head := f.git("rev-parse", "HEAD")
	f.undo(Undo{Iteration: 2}, []string{"a"})
	f.has("a", "2\n")
	if now := f.git("rev-parse", "HEAD"); now != head || !strings.Contains(f.git("branch"), "* other") {
		t.Error("HEAD has moved")
	}
}

func TestTwoWorktreesOfOneRepository(t *testing.T) {
	t.Parallel()
	f := repository(t, "a", "1\n")
	g := &folder{t: t, dir: filepath.Join(t.TempDir(), "other"), opts: f.opts}
	f.git("worktree", "add", "-q", g.dir)
	f.open("ralph-one")
	g.open("ralph-two")
	f.start()
	g.start()
	f.after(1, "a", "f\n")
	g.after(1, "a", "g\n", "b", "g\n")
	f.changed(Range{0, 1}, "modified a +1 -1")
	g.changed(Range{0, 1}, "modified a +1 -1", "added b +1 -0")
	f.undo(Undo{Iteration: 1}, []string{"a"})
	f.has("a", "1\n")
	g.has("a", "g\n")
	if refs := f.git("for-each-ref", "--format=%(refname)", "refs/ralph"); refs != "refs/ralph/ralph-one/files\nrefs/ralph/ralph-two/files\n" {
		t.Error(refs)
	}
	if all, heads := f.git("log", "--all", "--format=%H"), f.git("log", "--branches", "--format=%H"); all != heads {
		t.Errorf("git log --all shows\n%sbesides\n%s", all, heads)
	}
	if got := f.git("diff", "--name-status", "refs/ralph/ralph-two/files:0", "refs/ralph/ralph-two/files:1"); got != "M\ta\nA\tb\n" {
		t.Errorf("git diff shows %q", got)
	}
	mirror := filepath.Join(t.TempDir(), "mirror")
	f.git("gc", "-q", "--prune=now")
	f.git("clone", "-q", "--mirror", f.dir, mirror)
	if got := f.git("-C", mirror, "show", "refs/ralph/ralph-two/files:last/b"); got != "g\n" {
		t.Errorf("a mirror has %q", got)
	}
	f.git("-C", mirror, "fsck", "--strict")
}

func TestEmptySubmodulesAndSparseFilesStayOut(t *testing.T) {
	t.Parallel()
	lib := repository(t, "lib.c", "1\n")
	f := repository(t, "a", "1\n", "far/away", "1\n")
	f.git("-c", "protocol.file.allow=always", "submodule", "-q", "add", lib.dir, "lib")
	f.git("commit", "-q", "-m", "with a submodule")
	f.git("submodule", "-q", "deinit", "-f", "lib")
	f.git("sparse-checkout", "set", "--no-cone", "/*", "!/far/")
	f.has("far/away", gone)
	f.open("ralph-test")
	if taken := f.start(); !slices.Equal(taken.Notes, []string{"lib (a submodule)"}) {
		t.Errorf("%q", taken.Notes)
	}
	f.after(1, "a", "2\n")
	f.changed(Range{0, 1}, "modified a +1 -1")
	f.undo(Undo{Since: 1}, []string{"a"})
	f.has("far/away", gone, "a", "1\n")
}

func TestFiltersRunAsInTheUsersOwnAdd(t *testing.T) {
	t.Parallel()
	f := repository(t, ".gitattributes", "*.up filter=up\n*.txt text eol=crlf\n")
	f.setForUser("filter.up.clean", "tr A-Z a-z")
	f.setForUser("filter.up.smudge", "tr a-z A-Z")
	f.write("a.up", "ONE\n", "a.txt", "1\r\n")
	f.git("add", "-A")
	f.loop()
	f.after(1, "a.up", "TWO\n", "a.txt", "2\r\n")
	f.undo(Undo{Iteration: 1}, []string{"a.txt", "a.up"})
	f.has("a.up", "ONE\n", "a.txt", "1\r\n")
}

func TestAFolderOfOursTakesFilesAsTheyAre(t *testing.T) {
	t.Parallel()
	f := bare(t, ".gitattributes", "* filter=none text eol=lf\n", "a", "1\r\n").loop()
	f.after(1, "a", "2\r\n3\n")
	f.undo(Undo{Iteration: 1}, []string{"a"})
	f.has("a", "1\r\n")
}

// The user's index says when it was written: a file of that moment is read again.
func TestARacyIndexStaysRacy(t *testing.T) {
	t.Parallel()
	for range 5 {
		f := repository(t, "a", "1\n")
		f.write("a", "1\n")
		f.git("add", "a")
		f.write("a", "2\n") // same size, and maybe the same moment
		f.loop()
		f.after(1, "a", "3\n")
		f.write("a", "1\n")
		f.undo(Undo{Iteration: 1}, nil, "a: "+whyEdited)
	}
}

func TestWithoutGit(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := Create(context.Background(), t.TempDir(), "ralph-test", Options{Dir: t.TempDir()}, nil); err != ErrNoGit {
		t.Error(err)
	}
	if _, err := Find(t.TempDir(), "", Options{Dir: t.TempDir()}); err != ErrNoGit {
		t.Error(err)
	}
}

func TestALoopGoesOn(t *testing.T) {
	t.Parallel()
	f := repository(t, "a", "1\n").loop()
	f.after(1, "a", "2\n")
	f.write("a", "3\n", "mine", "1\n") // the user's, while nobody drives the loop
	f.open("ralph-test")
	f.start()
	f.after(2, "a", "4\n")
	f.changed(Range{1, 2}, "modified a +1 -1")
	f.changed(Range{0, 2}, "modified a +1 -1", "added mine +1 -0")
	f.undo(Undo{Iteration: 2}, []string{"a"})
	f.has("a", "3\n", "mine", "1\n")
	found, err := Find(f.dir, "", f.opts)
	if err != nil || found.LoopID() != "ralph-test" {
		t.Errorf("%v, %v", found, err)
	}
	if _, err := Find(t.TempDir(), "", f.opts); err != ErrNone {
		t.Error(err)
	}
	if _, err := Create(context.Background(), f.dir, "../x", f.opts, nil); err == nil {
		t.Error("an id that leads elsewhere is taken")
	}
}

func TestPrune(t *testing.T) {
	t.Parallel()
	for _, begin := range []func(testing.TB, ...string) *folder{repository, bare} {
		f := begin(t, "a", "1\n").loop()
		f.after(1, "a", "2\n")
		home := f.home
		must.OK(t, Prune(context.Background(), f.opts))
		f.changed(Range{0, 1}, "modified a +1 -1")
		own := f.book.Own
		f.opts.Keep = 0
		must.OK(t, Prune(context.Background(), f.opts))
		if _, err := os.Stat(home); !os.IsNotExist(err) {
			t.Errorf("%s is still there", home)
		}
		if !own && f.git("for-each-ref", "refs/ralph") != "" {
			t.Error("refs are left")
		}
	}
}

// The snapshots of a loop in a worktree that was removed go, too.
func TestPruneWhereTheWorktreeIsGone(t *testing.T) {
	t.Parallel()
	f := repository(t, "a", "1\n")
	tree := filepath.Join(t.TempDir(), "tree")
	f.git("worktree", "add", "-q", tree)
	s, err := Create(context.Background(), tree, "ralph-test", f.opts, nil)
	f.must(err)
	_, err = s.Snapshots.Start(context.Background())
	f.must(err)
	if f.git("for-each-ref", "refs/ralph") == "" {
		t.Fatal("no refs")
	}
	f.git("worktree", "remove", "--force", tree)
	o := f.opts
	o.Keep = 0
	f.must(Prune(context.Background(), o))
	if left := f.git("for-each-ref", "refs/ralph"); left != "" {
		t.Errorf("refs are left: %s", left)
	}
}

func TestAMergeUnderWay(t *testing.T) {
	t.Parallel()
	f := repository(t, "a", "1\n", "b", "1\n")
	f.git("switch", "-q", "-c", "other")
	f.write("a", "2\n")
	f.git("commit", "-q", "-am", "other")
	f.git("switch", "-q", "main")
	f.write("a", "3\n")
	f.git("commit", "-q", "-am", "main")
	cmd := exec.Command("git", "merge", "-q", "other")
	cmd.Dir = f.dir
	if err := cmd.Run(); err == nil {
		t.Fatal("the merge has no conflict")
	}
	f.git("add", "-N", f.path("b"))
	before := f.git("status", "--porcelain=v2")
	f.loop()
	f.after(1, "a", "4\n", "b", "2\n")
	f.changed(Range{0, 1}, "modified a +1 -5", "modified b +1 -1")
	f.undo(Undo{Iteration: 1}, []string{"a", "b"})
	if after := f.git("status", "--porcelain=v2"); after != before {
		t.Errorf("%s, want %s", after, before)
	}
}

// Of two processes with the same loop, one waits for the other.
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	f := repository(t, "a", "1\n").loop()
	release, err := f.hold(context.Background())
	f.must(err)
	f.open("ralph-test")
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := f.Start(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it didn't wait: %v", err)
	}
	release()
	f.start()
}

// A small folder is looked at without git, as soon as its files are old enough
// for that.
func TestNoGitForNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, begin func(t testing.TB, files ...string) *folder) {
		f := begin(t, "a", "1\n").loop()
		program := f.archive.git.Program
		for end := time.Now().Add(time.Minute); ; {
			f.archive.git.Program = "/nowhere"
			_, err := f.Start(context.Background())
			f.archive.git.Program = program
			if err == nil {
				break
			}
			if time.Now().After(end) {
				t.Fatal(err)
			}
			f.start()
		}
		f.after(1, "a", "2\n")
		f.changed(Range{0, 1}, "modified a +1 -1")
	})
}

func TestWhichIDsFit(t *testing.T) {
	for id, want := range map[string]bool{
		"ralph-ca7igygdcr4i": true, "a": true, "A_b-9": true, strings.Repeat("x", 64): true,
		"": false, strings.Repeat("x", 65): false, "-a": false, "_a": false, "a/b": false, "..": false, "a.lock": false, "ä": false, "a\n": false,
	} {
		if got := fits(id); got != want {
			t.Errorf("%q fits: %t", id, got)
		}
	}
}
