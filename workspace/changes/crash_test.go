package changes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// takeUntilKilled changes a folder, makes snapshots and undoes them for ever. Its
// own change is a rename: a kill must not leave a file that only the test cut off.
func takeUntilKilled(dir string) {
	next := dir + ".next"
	for n := 1; ; n++ {
		s, err := Create(context.Background(), dir, "ralph-test", Options{MaxFile: 1 << 20, Dir: dir + ".changes"}, nil)
		if err == nil {
			_, err = s.Snapshots.Start(context.Background())
		}
		if err == nil {
			err = s.Snapshots.Begin(n)
		}
		if err == nil {
			err = os.WriteFile(next, fmt.Appendf(nil, "%d\n", n), 0o600)
		}
		if err == nil {
			err = os.Rename(next, filepath.Join(dir, "a"))
		}
		if err == nil {
			_, err = s.Snapshots.After(context.Background(), n)
		}
		if err == nil {
			_, err = s.Undoer.Undo(context.Background(), Undo{Iteration: n})
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(n)
	}
}

// locks are all files of git's that say that one is at work.
func (f *folder) locks() (found []string) {
	for _, dir := range []string{f.dir, f.opts.Dir} {
		f.must(filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if strings.HasSuffix(path, ".lock") {
				found = append(found, path)
			}
			if errors.Is(err, fs.ErrNotExist) { // a git that nobody killed is still at work
				return nil
			}
			return err
		}))
	}
	return found
}

// books are those of all loops.
func (f *folder) books() []string {
	found, _ := filepath.Glob(filepath.Join(f.opts.Dir, "*", tipName))
	return found
}

// A git that was killed has left its locks. Those of the loop's own refs are
// taken away, and no others.
func TestLocksOfAGitThatWasKilled(t *testing.T) {
	t.Parallel()
	begin := func(f *folder, gitDir string) {
		refs := filepath.Join(gitDir, "refs")
		f.after(1, "a", "2\n")
		ours := []string{filepath.Join(refs, "ralph/ralph-test/files.lock")}
		others := []string{filepath.Join(refs, "ralph/other/last.lock"), filepath.Join(refs, "heads/main.lock"), filepath.Join(gitDir, "packed-refs.lock"), filepath.Join(gitDir, "index.lock")}
		for _, path := range slices.Concat(ours, others) {
			f.must(os.MkdirAll(filepath.Dir(path), 0o755))
			f.must(os.WriteFile(path, nil, 0o600))
		}
		f.after(2, "a", "3\n")
		f.changed(Range{1, 2}, "modified a +1 -1")
		for _, path := range ours {
			if _, err := os.Lstat(path); err == nil {
				t.Errorf("%s is still there", path)
			}
		}
		for _, path := range others {
			if _, err := os.Lstat(path); err != nil {
				t.Error(err)
			}
			os.Remove(path)
		}
		if !f.book.Own && f.git("rev-parse", "refs/ralph/ralph-test/files:2") != f.git("rev-parse", "refs/ralph/ralph-test/files:last") {
			t.Error("the last snapshot has no name")
		}
	}
	f := repository(t, "a", "1\n").loop()
	begin(f, f.path(".git"))
	g := &folder{t: t, dir: filepath.Join(t.TempDir(), "other"), opts: bare(t).opts}
	f.git("worktree", "add", "-q", g.dir)
	f.git("update-ref", "-d", "refs/ralph/ralph-test/files")
	begin(g.loop(), f.path(".git"))
	own := bare(t, "a", "1\n").loop()
	begin(own, own.book.GitDir)
}

// tried runs a git that fails, and that's how it should be.
func (f *folder) tried(args ...string) {
	f.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = f.dir
	if out, err := cmd.CombinedOutput(); err == nil {
		f.t.Fatalf("git %s worked: %s", args, out)
	}
}

// A process is killed between two writes of an iteration's snapshot, and then its user has git throw away all that has no
// name. Either the snapshot is there as a whole, and the iteration wasn't cut off; or there is none, and the next one has
// what the iteration changed, as it was cut off.
func TestKilledBetweenTwoWrites(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a script stands in for git")
	}
	unmark := func(f *folder) { f.must(atWork(f.home).Clear()) }
	for _, moment := range []struct {
		name   string
		killer string // what the script does instead of a git: it is "$@", whose end is the end of its parent
		isMade bool
		more   func(*folder) // what its process has done behind that
	}{
		{"before the index", "*update-index*) kill -9 $PPID; exit", false, nil},
		{"behind the index", "*update-index*) \"$@\"; kill -9 $PPID; exit", false, nil},
		{"behind the tree", "*write-tree*) \"$@\"; kill -9 $PPID; exit", false, nil},
		{"before the ref", "*update-ref*) kill -9 $PPID; exit", false, nil},
		{"behind the ref", "*update-ref*) \"$@\"; kill -9 $PPID; exit", true, nil},
		{"behind the mark", "*update-ref*) \"$@\"; kill -9 $PPID; exit", true, unmark},
		{"behind the tip", "*update-ref*) \"$@\"; kill -9 $PPID; exit", true, func(f *folder) {
			unmark(f)
			f.must(os.Rename(filepath.Join(f.home, tipName+".new"), filepath.Join(f.home, tipName)))
		}},
	} {
		t.Run(moment.name, func(t *testing.T) {
			t.Parallel()
			f := repository(t, "a", "0\n", "user", "as it was\n")
			f.opts.Dir = f.dir + ".changes"
			t.Cleanup(func() { os.RemoveAll(f.opts.Dir) })
			f.loop()
			for i := range 2*perOlder - 1 { // so that the next snapshot moves older ones into a list of theirs
				f.write("user", strings.Repeat("older\n", i+1))
				f.start()
			}
			f.git("pack-refs", "--all") // so that git has to write the ref
			f.killedAt(moment.killer)
			if moment.more != nil {
				moment.more(f)
			}
			f.git("gc", "-q", "--prune=now")

			f.open("ralph-test")
			work := []string{"modified a +1 -1"}
			if moment.isMade {
				f.changed(Range{0, 1}, work...) // before anybody goes on
			} else {
				f.changed(Range{0, 1})
			}
			f.write("user", "2\n")
			cutOff := f.start().CutOff
			if !moment.isMade {
				work = append(work, "modified user +1 -3") // nobody knows when
			}
			if isCutOff := cutOff == 1; isCutOff == moment.isMade {
				t.Errorf("iteration %d was cut off", cutOff)
			}
			f.changed(Range{0, 1}, work...)
			f.must(f.Begin(2))
			f.after(2, "a", "2\n", "b", "2\n")
			f.changed(Range{1, 2}, "modified a +1 -1", "added b +1 -0")
			for i := range 3 * perOlder {
				f.after(i+3, "b", strings.Repeat("3\n", i+1))
			}
			f.git("gc", "-q", "--prune=now")
			f.undo(Undo{Since: 2}, []string{"a", "b"})
			f.has("a", "1\n", "b", gone)
			f.undo(Undo{Iteration: 1}, strings.Split(map[bool]string{true: "a", false: "a user"}[moment.isMade], " "))
			f.has("a", "0\n", "user", map[bool]string{true: "2\n", false: strings.Repeat("older\n", 3)}[moment.isMade])
			if out := f.git("fsck", "--strict", "--no-dangling"); strings.Contains(out, "error") || strings.Contains(out, "missing") {
				t.Error(out)
			}
			if out := f.git("status", "--porcelain"); !strings.Contains(out, "user") {
				t.Errorf("%q", out)
			}
		})
	}
}

// killedAt has a process make snapshots until a git of its is one of a case of the shell's. "$@" is that git.
func (f *folder) killedAt(moment string) {
	f.t.Helper()
	git, err := exec.LookPath("git")
	f.must(err)
	bin := f.t.TempDir()
	f.must(os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\nset -- "+git+" \"$@\"\ncase \"$*\" in "+moment+";; esac\nexec \"$@\"\n"), 0o700))
	program, err := os.Executable()
	f.must(err)
	cmd := exec.Command(program, "take-snapshots", f.dir)
	cmd.Env = append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	out, _ := cmd.CombinedOutput()
	if cmd.ProcessState.Exited() {
		f.t.Fatalf("it wasn't killed: %s", out)
	}
}

// It is told when a snapshot can't get its name.
func TestANameThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	f := repository(t, "a", "0\n").loop()
	lock := f.path(".git/refs/ralph/ralph-test")
	f.must(os.RemoveAll(lock))
	f.must(os.WriteFile(lock, nil, 0o600))
	f.write("a", "1\n")
	for n := range 2 {
		if _, err := f.After(context.Background(), n+1); err == nil {
			t.Error("nobody is told")
		}
	}
	f.must(os.Remove(lock))
	f.after(3)
	f.git("rev-parse", "refs/ralph/ralph-test/files:1")
	f.undo(Undo{Iteration: 1}, []string{"a"})
}

// A process is killed while it removes the repository of a loop that changed nothing. The loop goes on with all its files.
func TestKilledWhileARepositoryThatHasNothingGoes(t *testing.T) {
	t.Parallel()
	f := bare(t, "a", "0\n", "b", "0\n").loop()
	index := filepath.Join(f.home, indexName)
	data, err := os.ReadFile(index)
	f.must(err)
	f.must(f.Finish(context.Background(), 1))
	f.must(os.WriteFile(index, data, 0o600))
	f.open("ralph-test")
	f.start()
	f.after(1, "a", "1\n", "b", gone)
	f.undo(Undo{Iteration: 1}, []string{"a", "b"})
	f.has("a", "0\n", "b", "0\n")
}
