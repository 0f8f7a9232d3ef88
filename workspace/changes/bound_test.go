package changes

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/workspace/changes/survey"
)

// noise is a text that nothing compresses.
func noise(size int) string {
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(rand.Uint32())
	}
	return string(data)
}

// size is how many bytes the repository of the snapshots has in objects.
func (f *folder) size() (sum int64) {
	f.t.Helper()
	f.must(filepath.WalkDir(f.book.objects(), func(_ string, entry fs.DirEntry, err error) error {
		f.must(err)
		if info, err := entry.Info(); err == nil && !entry.IsDir() {
			sum += info.Size()
		}
		return nil
	}))
	return sum
}

// A database that each run writes anew is kept in its first versions, and in its last. The rest of the loop is kept
// all the same, and what is kept has a bound.
func TestALargeFileThatChangesInEachRun(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, begin func(t testing.TB, files ...string) *folder) {
		const size, most = 100_000, 2_000_000
		f := begin(t, "db", noise(size), "a", "0\n")
		f.opts.MaxKept = most
		f.loop()
		before := f.size()
		var versions []string
		told := map[string]bool{}
		for n := 1; n <= 40; n++ {
			versions = append(versions, noise(size))
			for _, note := range f.after(n, "db", versions[n-1], "a", fmt.Sprintf("%d\n", n)).Notes {
				told[note] = true
			}
		}
		if want := "db (kept now and then only, as the snapshots of a loop have 2.0 MB at most: changes.max_mb)"; len(told) != 1 || !told[want] {
			t.Errorf("told are %v", told)
		}
		if kept := f.size() - before; kept > most {
			t.Errorf("%d bytes are kept", kept)
		}
		f.changed(Range{4, 5}, "modified a +1 -1", "modified db +0 -0 binary")
		f.changed(Range{38, 39}, "modified a +1 -1")
		f.must(f.Finish(t.Context(), 40))
		f.changed(Range{39, 40}, "modified a +1 -1", "modified db +0 -0 binary")
		f.undo(Undo{Since: 6}, []string{"a", "db"})
		f.has("a", "5\n", "db", versions[4])
		if kept := f.size() - before; kept > most {
			t.Errorf("%d bytes are kept at the end", kept)
		}
		f.open("ralph-test") // a later process knows it, too
		if last, err := f.tip(); err != nil || last.spent < most/2 {
			t.Errorf("it knows of %d bytes, %v", last.spent, err)
		}
	})
}

// Nothing that somebody else changed meanwhile is an iteration's, because the loop has ended.
func TestWhatFinishTakes(t *testing.T) {
	t.Parallel()
	f := bare(t, "db", noise(100_000), "a", "0\n")
	f.opts.MaxKept = 300_000
	f.loop()
	f.after(1, "db", noise(100_000))
	f.changed(Range{0, 1})
	f.write("a", "the user's\n", "new", "the user's\n")
	f.must(f.Finish(t.Context(), 1))
	f.changed(Range{0, 1}, "modified db +0 -0 binary")
	f.must(f.Finish(t.Context(), 1))
	if snapshots, err := f.snapshots(); err != nil || len(snapshots) != 2 {
		t.Errorf("%d snapshots, %v", len(snapshots), err)
	}
}

// Data that git doesn't know stays out of the user's repository.
func TestDataBesideTheWork(t *testing.T) {
	t.Parallel()
	f := repository(t, "a", "1\n")
	f.opts.MaxFile = 0
	f.write("data/large", noise(maxUnknown+1), "data/small", "1\n")
	f.open("ralph-test")
	before := f.size()
	if taken := f.start(); !slices.Equal(taken.Notes, []string{"data/large (10.5 MB, and git doesn't track it: add it, or have git ignore it)"}) {
		t.Errorf("%q", taken.Notes)
	}
	if grown := f.size() - before; grown > 10_000 {
		t.Errorf("the repository grew by %d bytes", grown)
	}
	if taken := f.after(1, "data/small", "2\n", "data/large", "now it is small\n"); len(taken.Notes) > 0 {
		t.Errorf("told again: %q", taken.Notes)
	}
	f.open("ralph-test")
	f.after(2, "data/large", "smaller\n")
	f.changed(Range{0, Latest}, "modified data/small +1 -1")
	f.undo(Undo{Since: 1}, []string{"data/small"})
	f.has("data/small", "1\n", "data/large", "smaller\n")
}

// What is too much at the start is left out, the largest files first, and told once for all.
func TestAFolderFullOfData(t *testing.T) {
	t.Parallel()
	f := bare(t, "work", "1\n")
	for i := range 20 {
		f.write(fmt.Sprintf("data/%02d", i), noise(100_000+i))
	}
	f.opts.MaxKept = 2_000_000
	f.open("ralph-test")
	want := "11 files with 1.1 MB, such as data/19 (beyond the first 1.0 MB: have git ignore what is no work, or say more in changes.max_mb)"
	if taken := f.start(); !slices.Equal(taken.Notes, []string{want}) {
		t.Errorf("%q", taken.Notes)
	}
	f.after(1, "work", "2\n", "data/00", gone, "data/19", gone)
	f.changed(Range{0, 1}, "deleted data/00 +0 -0 binary", "modified work +1 -1")
}

// Many files go into packs by way of a folder of their own, of which nothing is left.
func TestNothingIsLeftOfWhatIsGivenUp(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, begin func(t testing.TB, files ...string) *folder) {
		f := begin(t, "a", "1\n")
		f.opts.MaxFile = 0
		f.loop()
		f.write("a", noise(1000))
		ctx, cancel := context.WithCancel(t.Context())
		f.write("one", noise(9<<20), "two", noise(9<<20))
		c := candidates{paths: []string{"one", "two"}, sizes: []int64{9 << 20, 9 << 20}, aside: map[string]bool{}}
		cancel()
		release, err := f.hold(t.Context())
		f.must(err)
		defer release()
		if err := f.Snapshots.files.update(ctx, &c, time.Time{}); err == nil {
			t.Error("it went on")
		}
		// A git that was killed, as its process was.
		dir := filepath.Join(f.book.objects(), "tmp_objdir-"+f.incoming().Name)
		f.must(os.MkdirAll(filepath.Join(dir, "pack"), 0o700))
		f.must(os.WriteFile(filepath.Join(dir, "pack", "tmp_pack_x"), []byte("half"), 0o600))
		f.must(os.WriteFile(filepath.Join(dir, "pack", "pack-1.pack"), []byte("no index"), 0o600))
		release()
		f.open("ralph-test")
		f.after(1, "a", "2\n")
		left, _ := filepath.Glob(filepath.Join(f.book.objects(), "tmp_*"))
		more, _ := filepath.Glob(filepath.Join(f.book.objects(), "pack", "*"))
		for _, pack := range append(left, more...) {
			if !strings.HasPrefix(filepath.Base(pack), "pack-") || strings.Contains(pack, "pack-1.") {
				t.Errorf("left is %s", pack)
			}
		}
		if out := f.inStore("fsck", "--no-dangling"); strings.Contains(out, "error") || strings.Contains(out, "missing") {
			t.Error(out)
		}
	})
}

// What there was no time to read is left out, and the loop has the rest.
func TestAFirstSnapshotThatTakesTooLong(t *testing.T) {
	t.Parallel()
	f := bare(t, "a", "1\n", "b", "1\n").loop()
	f.after(1, "a", "2\n")
	c := candidates{paths: []string{"new"}, sizes: []int64{7}, aside: map[string]bool{}}
	f.write("new", "1234567")
	release, err := f.hold(t.Context())
	f.must(err)
	f.must(f.Snapshots.files.update(t.Context(), &c, time.Now().Add(-time.Second)))
	release()
	if want := "1 file with 7 B, such as new (reading the folder took longer than 45s, so undo has only what comes later: have git ignore what is no work)"; !slices.Equal(c.notes, []string{want}) || len(c.paths) > 0 {
		t.Errorf("%q, %q", c.notes, c.paths)
	}
	f.after(2, "new", "changed\n", "b", "2\n")
	f.changed(Range{0, Latest}, "modified a +1 -1", "modified b +1 -1")
}

func TestHowFarTheFirstSnapshotIs(t *testing.T) {
	t.Parallel()
	f := bare(t, "a", noise(9<<20), "b", "1\n")
	f.opts.MaxFile = 0
	f.open("ralph-test")
	far := &survey.Survey{}
	f.Report(far)
	if got := far.Text(); got != "which files there are" {
		t.Error(got)
	}
	f.start()
	if got := far.Text(); got != "2 of 2 files, 9.4 MB of 9.4 MB" {
		t.Error(got)
	}
	if data := []byte(f.inStore("cat-file", "blob", ":a")); !bytes.HasPrefix([]byte(f.read("a")), data[:1000]) {
		t.Error("it has another content")
	}
}

func (f *folder) read(name string) string {
	f.t.Helper()
	data, err := os.ReadFile(f.path(name))
	f.must(err)
	return string(data)
}

// Outside of a repository a loop that changed nothing leaves no repository. It says so all the same, and may go on.
func TestALoopThatChangedNothingKeepsLittle(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, begin func(t testing.TB, files ...string) *folder) {
		f := begin(t, "a", "0\n").loop()
		keeps := func() bool {
			f.must(f.Finish(t.Context(), 1))
			_, err := os.Stat(f.book.GitDir)
			return err == nil
		}
		f.must(f.Begin(1))
		if !keeps() {
			t.Fatal("the repository is gone while an agent works: its changes couldn't be told")
		}
		f.after(1)
		if keeps() == f.book.Own {
			t.Fatal("is there a repository?", !f.book.Own)
		}
		if entries, err := os.ReadDir(f.home); err != nil || f.book.Own && len(entries) > 4 {
			t.Errorf("%d files are kept, %v", len(entries), err)
		}
		s, err := Find(f.dir, "ralph-test", f.opts)
		f.must(err)
		f.use(s)
		f.changed(Range{0, Latest})
		f.places(Range{0, Latest})
		if patch, err := f.Patch(t.Context(), Range{0, Latest}, nil); err != nil || len(patch) > 0 {
			t.Errorf("a patch %q, %v", patch, err)
		}
		if diff, all, err := f.Text(t.Context(), Range{0, Latest}, nil, 100); err != nil || len(diff) > 0 || !all {
			t.Errorf("a diff %q, %v", diff, err)
		}
		if kept, err := f.Keep(t.Context(), Latest, nil, true); err != nil || len(kept) > 0 {
			t.Errorf("kept are %q, %v", kept, err)
		}
		f.undo(Undo{Since: 1}, nil)
		keeps()
		f.write("a", "the user's\n")
		f.open("ralph-test")
		f.start()
		f.after(2, "a", "2\n", "b", "2\n")
		if !keeps() {
			t.Fatal("what changed is gone")
		}
		f.changed(Range{1, 2}, "modified a +1 -1", "added b +1 -0")
		f.undo(Undo{Since: 1}, []string{"a", "b"})
		f.has("b", gone)
	})
}
