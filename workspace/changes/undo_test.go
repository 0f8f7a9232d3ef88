package changes

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const ten = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"

func TestUndoAndRedo(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, begin func(t testing.TB, files ...string) *folder) {
		f := begin(t, "a", "1\n", "b", "b\n", "dir/deep/x", "x\n", "bin", "\x00\x01").loop()
		f.must(os.Chmod(f.path("b"), 0o600))
		f.after(1, "a", "2\n", "new/c", "c\n", "dir", gone, "bin", "\x00\x02")
		f.must(os.Chmod(f.path("b"), 0o700))
		f.must(os.Symlink("a", f.path("link")))
		f.after(2)
		f.undo(Undo{Iteration: 2}, []string{"b", "link"})
		if info, err := os.Stat(f.path("b")); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		f.undo(Undo{Since: 1, DryRun: true}, []string{"a", "bin", "dir/deep/x", "new/c"})
		f.has("a", "2\n", "new/c", "c\n")
		f.undo(Undo{Since: 1}, []string{"a", "bin", "dir/deep/x", "new/c"})
		f.has("a", "1\n", "bin", "\x00\x01", "dir/deep/x", "x\n", "new/c", gone)
		if _, err := os.Stat(f.path("new")); !os.IsNotExist(err) {
			t.Error("an empty folder is left")
		}
		f.undo(Undo{Since: 1}, nil)
		f.redo([]string{"a", "bin", "dir/deep/x", "new/c"})
		f.redo([]string{"b", "link"})
		f.has("a", "2\n", "bin", "\x00\x02", "dir/deep/x", gone, "new/c", "c\n")
		if target, err := os.Readlink(f.path("link")); err != nil || target != "a" {
			t.Errorf("%q, %v", target, err)
		}
		if info, err := os.Stat(f.path("b")); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		if _, err := f.Redo(context.Background(), false); !errors.Is(err, ErrNothingToRedo) {
			t.Error(err)
		}
	})
}

func TestUndoOfSomeFiles(t *testing.T) {
	t.Parallel()
	f := repository(t, "a", "1\n", "dir/b", "1\n", "dir2", "1\n").loop()
	f.after(1, "a", "2\n", "dir/b", "2\n", "dir2", "2\n")
	f.undo(Undo{Iteration: 1, Paths: []string{"dir"}}, []string{"dir/b"})
	f.undo(Undo{Iteration: 1, Paths: []string{"./a"}}, []string{"a"})
	f.has("a", "1\n", "dir/b", "1\n", "dir2", "2\n")
	if _, err := f.Undo(context.Background(), Undo{Iteration: 1, Paths: []string{"../a"}}); !errors.As(err, new(*OutsideError)) {
		t.Error(err)
	}
}

func TestUndoKeepsWhatTheUserDid(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, begin func(t testing.TB, files ...string) *folder) {
		f := begin(t, "elsewhere", ten, "same", ten, "deleted", "1\n", "again", "1\n", "bin", "\x00\x01").loop()
		f.after(1, "elsewhere", "one\n"+ten[2:], "same", "one\n"+ten[2:], "deleted", "2\n", "again", gone, "made", "1\n", "bin", "\x00\x02")
		f.write("elsewhere", "one\n"+ten[2:]+"mine\n", "same", "mine\n"+ten[2:], "deleted", gone, "again", "mine\n", "made", "mine\n", "bin", "\x00\x03")
		f.undo(Undo{Iteration: 1}, []string{"elsewhere"}, "again: "+whyThere, "bin: "+whyBinary, "deleted: "+whyGone, "made: "+whyNew, "same: "+whyEdited)
		f.has("elsewhere", ten+"mine\n", "same", "mine\n"+ten[2:], "deleted", gone, "again", "mine\n", "made", "mine\n", "bin", "\x00\x03")
		f.redo([]string{"elsewhere"})
		f.has("elsewhere", "one\n"+ten[2:]+"mine\n")
	})
}

func TestUndoWithMarkers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, begin func(t testing.TB, files ...string) *folder) {
		f := begin(t, "a", ten, "b", "1\n", "bin", "\x00\x01", "deleted", "1\n", "mode", "1\n", "merge.txt", "<<<<<<< yours\n").loop()
		f.after(1, "a", "1\n2\n"+ten[4:]+"11\n")
		f.must(os.Chmod(f.path("mode"), 0o755))
		f.after(2, "a", "one\n2\n"+ten[4:]+"11\n", "b", "2\n", "bin", "\x00\x02", "deleted", "2\n", "mode", "2\n", "merge.txt", "<<<<<<< yours\n2\n")
		mine := "mine\n2\n" + ten[4:] + "11\n"
		f.write("a", mine, "bin", "\x00\x03", "deleted", gone, "mode", "3\n", "merge.txt", "<<<<<<< yours\n3\n")
		binary, deleted, nested := "bin: "+whyBinary, "deleted: "+whyGone, "merge.txt: "+whyNested
		u := Undo{Since: 1, Merge: true, DryRun: true}
		f.undo(u, []string{"b", "a (merged)", "mode (merged)"}, binary, deleted, nested)
		f.has("a", mine, "b", "2\n")
		u.DryRun = false
		f.undo(u, []string{"b", "a (merged)", "mode (merged)"}, binary, deleted, nested)
		marked := "<<<<<<< yours\nmine\n||||||| after iteration 2\none\n=======\n1\n>>>>>>> before iteration 1\n2\n" + ten[4:]
		f.has("a", marked, "b", "1\n", "bin", "\x00\x03", "deleted", gone)
		if info, err := os.Stat(f.path("mode")); err != nil || info.Mode().Perm() != 0o644 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		f.undo(u, nil, "a: "+whyNested, binary, deleted, nested, "mode: "+whyNested)
		f.redo([]string{"a", "b", "mode"})
		f.has("a", mine, "b", "2\n", "mode", "3\n")
		f.undo(Undo{Iteration: 2, Paths: []string{"a"}, Merge: true}, []string{"a (merged)"})
		f.write("a", "resolved\n")
		f.redo(nil, "a: "+whyEdited)
		f.has("a", "resolved\n")
	})
}

func TestUndoOfAnIterationInTheMiddle(t *testing.T) {
	t.Parallel()
	f := bare(t, "a", ten).loop()
	f.after(1, "a", "one\n"+ten[2:])
	f.after(2, "a", "one\n"+ten[2:]+"eleven\n")
	f.after(3, "b", "1\n")
	f.undo(Undo{Iteration: 1}, []string{"a"})
	f.has("a", ten+"eleven\n", "b", "1\n")
	f.after(4, "a", ten+"twelve\n")
	f.changed(Range{3, 4}, "modified a +1 -1")
	f.undo(Undo{Since: 1}, []string{"a", "b"})
	f.has("a", ten, "b", gone)
}

func TestUndoNeverLeavesTheFolder(t *testing.T) {
	t.Parallel()
	f := repository(t, "dir/a", "1\n").loop()
	f.after(1, "dir/a", "2\n", "dir/b", "1\n")
	outside := t.TempDir()
	f.must(os.Rename(f.path("dir"), filepath.Join(outside, "dir")))
	f.must(os.Symlink(filepath.Join(outside, "dir"), f.path("dir")))
	f.undo(Undo{Iteration: 1}, nil, "dir/a: "+whyGone)
	if data, err := os.ReadFile(filepath.Join(outside, "dir", "a")); string(data) != "2\n" {
		t.Errorf("%q, %v", data, err)
	}
	// A folder that was one when the iteration began.
	f = repository(t, "dir/a", "1\n").loop()
	f.after(1, "dir", gone)
	f.must(os.Symlink(outside, f.path("dir")))
	f.undo(Undo{Iteration: 1}, nil, "dir/a: "+whyLink)
	if _, err := os.Lstat(filepath.Join(outside, "a")); !os.IsNotExist(err) {
		t.Error("a file outside was written")
	}
}

func TestUndoOfFoldersThatBecameFiles(t *testing.T) {
	t.Parallel()
	f := bare(t, "x", "1\n", "y/z", "1\n").loop()
	f.after(1, "x", gone, "x/y", "1\n", "y", gone)
	f.after(2, "y", "file\n")
	f.undo(Undo{Since: 1}, []string{"x", "x/y", "y", "y/z"})
	f.has("x", "1\n", "y/z", "1\n")
}

func TestUndoLeavesWhatNoSnapshotHas(t *testing.T) {
	t.Parallel()
	f := repository(t, ".gitignore", "", "a", "1\n").loop()
	f.after(1, "a", gone, ".gitignore", "a\n")
	f.write("a", "mine, and ignored\n")
	f.undo(Undo{Iteration: 1, Paths: []string{"a"}}, nil, "a: "+whyUnknown)
	f.has("a", "mine, and ignored\n")
}

// Who works in the folder is in the way even of a dry run.
func TestNothingIsUndoneThatMayNotBeWritten(t *testing.T) {
	t.Parallel()
	f := bare(t, "a", "1\n").loop()
	f.after(1, "a", "2\n")
	f.undo(Undo{Iteration: 1}, []string{"a"})
	f.write("a", "3\n")
	before, err := f.snapshots()
	f.must(err)
	busy := errors.New("somebody is at work")
	f.MayWrite = func() error { return busy }
	for name, try := range map[string]func() (Undone, error){
		"undo":    func() (Undone, error) { return f.Undo(context.Background(), Undo{Iteration: 1}) },
		"dry run": func() (Undone, error) { return f.Undo(context.Background(), Undo{Iteration: 1, DryRun: true}) },
		"redo":    func() (Undone, error) { return f.Redo(context.Background(), false) },
	} {
		if _, err := try(); err != busy {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after, err := f.snapshots(); err != nil || len(after) != len(before) {
		t.Errorf("%d snapshots were made (%v)", len(after)-len(before), err)
	}
	f.has("a", "3\n")
}

// An undo doesn't touch HEAD, and says so where the agent moved it.
func TestAnUndoSaysThatHeadStays(t *testing.T) {
	t.Parallel()
	moved := func(f *folder, u Undo) bool {
		done, err := f.Undo(context.Background(), u)
		f.must(err)
		return done.HeadMoved
	}
	f := repository(t, "a", "1\n").loop()
	f.after(1, "a", "2\n")
	if moved(f, Undo{Iteration: 1}) {
		t.Error("HEAD has moved before the agent did anything")
	}
	f.redo([]string{"a"})
	commit := exec.Command("git", "commit", "-q", "-am", "the agent's")
	commit.Dir, commit.Env = f.dir, append(os.Environ(), "GIT_COMMITTER_DATE=4070908800 +0000")
	f.must(commit.Run())
	if !moved(f, Undo{Iteration: 1, DryRun: true}) || !moved(f, Undo{Iteration: 1}) {
		t.Error("nothing is said of the commit")
	}
	if moved(f, Undo{Iteration: 1}) {
		t.Error("HEAD is told of, although nothing was undone")
	}
	own := bare(t, "a", "1\n").loop()
	own.after(1, "a", "2\n")
	if moved(own, Undo{Iteration: 1}) {
		t.Error("a HEAD that nobody has was moved")
	}
}

// What is undone of an earlier loop doesn't make that the last one, whose changes a user without an id means. A loop that
// goes on is the last one.
func TestTheLastLoopIsTheOneThatWorkedLast(t *testing.T) {
	t.Parallel()
	f := repository(t, "a", "1\n").loop()
	f.after(1, "b", "1\n")
	f.open("ralph-second")
	f.start()
	f.after(1, "c", "1\n")
	first, err := Find(f.dir, "ralph-test", f.opts)
	f.must(err)
	if done, err := first.Undoer.Undo(context.Background(), Undo{Since: 1}); err != nil || len(done.Paths) != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	for _, id := range []string{"ralph-second", "ralph-test"} {
		if found, err := Find(f.dir, "", f.opts); err != nil || found.LoopID() != id {
			t.Errorf("%v, %v, want %s", found, err, id)
		}
		f.open("ralph-test")
	}
}
