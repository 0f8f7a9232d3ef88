package changes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
)

// keep keeps files, and checks which.
func (f *folder) keep(n int, kept bool, paths []string, want ...string) {
	f.t.Helper()
	got, err := f.Keep(context.Background(), n, paths, kept)
	if err != nil || !slices.Equal(got, want) {
		f.t.Errorf("kept %q (%v), want %q", got, err, want)
	}
}

// kept checks which files of a range are kept.
func (f *folder) kept(r Range, want ...string) {
	f.t.Helper()
	files, err := f.Files(context.Background(), r, nil)
	f.must(err)
	var got []string
	for _, file := range files {
		if file.Kept {
			got = append(got, file.Path)
		}
	}
	if !slices.Equal(got, want) {
		f.t.Errorf("%v: kept are %q, want %q", r, got, want)
	}
}

func TestWhatIsKeptIsReviewed(t *testing.T) {
	now := Range{0, Latest}
	f := repository(t, "a", "1\n", "sub/b", "b\n", "del", "d\n").loop()
	f.after(1, "a", "2\n", "sub/b", "c\n", "del", gone, "new \xe9", "n\n")
	f.after(2, "a", "3\n")
	f.keep(Latest, true, []string{"sub", "del"}, "del", "sub/b")
	f.kept(now, "del", "sub/b")
	f.kept(Range{0, 1}, "del", "sub/b")
	f.keep(1, true, []string{"a"}, "a")
	f.kept(now, "del", "sub/b")
	f.kept(Range{0, 1}, "a", "del", "sub/b")
	f.holds(Reviewed, "a", "2\n")
	f.holds(Reviewed, "del", gone)
	f.holds(Reviewed, "new \xe9", gone)
	f.keep(Latest, true, nil, "a", "del", "new \xe9", "sub/b")
	f.kept(now, "a", "del", "new \xe9", "sub/b")
	f.kept(Range{0, 1}, "a", "del", "new \xe9", "sub/b") // what was reviewed later was reviewed then
	f.keep(1, true, []string{"a"}, "a")
	f.holds(Reviewed, "a", "3\n") // nothing is forgotten by that
	f.after(3, "a", "4\n", "sub/b", "b\n")
	f.kept(now, "del", "new \xe9")
	f.holds(Reviewed, "a", "3\n")
	f.holds(Reviewed, "sub/b", "c\n")
	f.keep(Latest, true, []string{"sub/b"}) // it is as before the loop
	f.holds(Reviewed, "sub/b", "b\n")
	f.keep(Latest, false, []string{"del"}, "del")
	f.kept(now, "new \xe9")
	f.keep(Latest, false, nil, "a", "new \xe9")
	f.kept(now)
}

// Another process sees what is kept, and an undo of it takes the mark away by
// itself.
func TestWhatIsKeptIsThereForAll(t *testing.T) {
	f := repository(t, "a", "1\n").loop()
	f.after(1, "a", "2\n")
	other, err := Find(f.dir, "", f.opts)
	f.must(err)
	mine := f.Store
	f.use(other)
	f.keep(Latest, true, nil, "a")
	f.use(mine)
	f.kept(Range{0, Latest}, "a")
	f.undo(Undo{Iteration: 1}, []string{"a"})
	f.kept(Range{0, Latest})
	f.redo([]string{"a"})
	f.kept(Range{0, Latest}, "a")
	f.must(os.WriteFile(f.home+"/"+keptName, []byte("half"), 0o600))
	if _, err := f.Files(context.Background(), Range{0, Latest}, nil); err == nil {
		t.Error("a damaged file is no file")
	}
}

// Others read and keep while the loop's own process takes snapshots.
func TestSnapshotsAreReadWhileOthersAreTaken(t *testing.T) {
	f := repository(t, "a", "0\n").loop()
	f.after(1, "a", "1\n")
	ctx, done := context.Background(), make(chan error, 1)
	go func() {
		other, err := Find(f.dir, "", f.opts)
		for n := 0; n < 4 && err == nil; n++ {
			var files []File
			var its []Iteration
			var content Content
			if files, err = other.Diff.Files(ctx, Range{0, Latest}, nil); err == nil && len(files) != 1 {
				err = fmt.Errorf("%d files", len(files))
			}
			if err == nil {
				its, err = other.Diff.Iterations(ctx, Range{0, Latest}, nil)
			}
			if err == nil {
				_, err = other.Review.Keep(ctx, Latest, nil, n%2 == 0)
			}
			if err == nil {
				content, err = other.Diff.Content(ctx, 1, "a")
			}
			if err == nil && (len(its) == 0 || string(content.Data) != "1\n") {
				err = fmt.Errorf("%d iterations, after the first %q", len(its), content.Data)
			}
		}
		done <- err
	}()
	for n := 2; ; n++ {
		f.after(n, "a", fmt.Sprintln(n))
		select {
		case err := <-done:
			f.must(err)
			f.holds(n, "a", fmt.Sprintln(n))
			return
		default:
		}
	}
}

// One name of what was renamed is enough to undo it.
func TestARenameIsUndoneByOneOfItsNames(t *testing.T) {
	f := repository(t, "sub/old", "one\ntwo\nthree\n", "a", "1\n").loop()
	f.after(1, "sub/old", gone, "new", "one\ntwo\nthree\n", "a", "2\n")
	for _, name := range []string{"new", "old", "sub", "."} {
		want := []string{"new", "sub/old"}
		switch name {
		case "old":
			name = "sub/old"
		case ".":
			want = []string{"a", "new", "sub/old"}
		}
		f.undo(Undo{Iteration: 1, Paths: []string{name}}, want)
		f.has("sub/old", "one\ntwo\nthree\n", "new", gone)
		can, err := f.CanRedo(context.Background())
		if f.must(err); !can {
			t.Error("that can't be taken back")
		}
		f.redo(want)
		f.has("sub/old", gone, "new", "one\ntwo\nthree\n")
		if can, err = f.CanRedo(context.Background()); can || err != nil {
			t.Errorf("a redo can be taken back (%v)", err)
		}
	}
}

func TestAFileIsKeptInParts(t *testing.T) {
	now := Range{0, Latest}
	keep := func(f *folder, path, text string, want bool) {
		t.Helper()
		if all, err := f.KeepText(context.Background(), path, []byte(text)); err != nil || all != want {
			t.Errorf("keeping %q: all %t (%v), want %t", text, all, err, want)
		}
	}
	f := repository(t, "a", "1\n2\n3\n", "same", "s\n", "del", "1\n2\n").loop()
	f.after(1, "a", "1!\n2\n3!\n", "new", "n\nm\n", "del", gone)
	keep(f, "a", "1!\n2\n3\n", false)
	keep(f, "new", "n\n", false)
	keep(f, "del", "2\n", false)
	f.kept(now)
	f.holds(Reviewed, "a", "1!\n2\n3\n")
	f.holds(Reviewed, "new", "n\n")
	f.holds(Reviewed, "del", "2\n")
	f.after(2, "a", "1!\n2!\n3!\n")
	f.holds(Reviewed, "a", "1!\n2\n3\n")
	keep(f, "a", "1!\n2!\n3!\n", true) // that is all
	f.kept(now, "a")
	f.holds(Reviewed, "a", "1!\n2!\n3!\n")
	f.keep(Latest, true, []string{"new"}, "new")
	f.holds(Reviewed, "new", "n\nm\n")
	f.keep(Latest, false, []string{"del"}, "del")
	f.holds(Reviewed, "del", "1\n2\n")
	for path, want := range map[string]any{"same": ErrUnchanged, "../x": new(*OutsideError), ".": ErrUnchanged} {
		_, err := f.KeepText(context.Background(), path, nil)
		if is, ok := want.(error); ok && !errors.Is(err, is) || !ok && !errors.As(err, want) {
			t.Errorf("keeping %q: %v", path, err)
		}
	}
	if _, err := f.KeepText(context.Background(), "a", make([]byte, MaxContent+1)); !errors.As(err, new(*TooLargeError)) {
		t.Errorf("a huge text: %v", err)
	}
}
