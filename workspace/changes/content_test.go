package changes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// holds checks a file of a snapshot; gone is for one that isn't there.
func (f *folder) holds(n int, path, want string) {
	f.t.Helper()
	c, err := f.Content(context.Background(), n, path)
	got := string(c.Data)
	if c.Absent {
		got = gone
	}
	if err != nil || got != want {
		f.t.Errorf("%s after %d: %q (%v), want %q", path, n, got, err, want)
	}
}

func TestAFileIsReadAsItWas(t *testing.T) {
	for name, f := range map[string]*folder{"repository": repository(t, "a", "1\n", "sub/b", "b\n"), "bare": bare(t, "a", "1\n", "sub/b", "b\n")} {
		t.Run(name, func(t *testing.T) {
			f.t = t
			f.loop()
			f.after(1, "a", "1\n2\n", "new \xe9", "x\x00y")
			f.write("a", "1\n2\nmine\n")
			f.start()
			f.after(2, "a", gone)
			f.must(os.Symlink("sub/b", f.path("link")))
			f.after(3)
			f.holds(0, "a", "1\n")
			f.holds(1, "a", "1\n2\n")
			f.holds(1, "./sub/../a", "1\n2\n")
			f.holds(2, "a", gone)
			f.holds(1e9, "a", gone)
			f.holds(0, "sub/b", "b\n")
			f.holds(Latest, "new \xe9", "x\x00y")
			f.holds(Latest, "sub", gone)
			f.holds(Latest, ".git/config", gone)
			f.holds(Reviewed, "a", "1\n")
			if c, err := f.ContentBefore(context.Background(), 2, "a"); string(c.Data) != "1\n2\nmine\n" {
				t.Errorf("iteration 2 has found %q (%v)", c.Data, err)
			}
			if c, err := f.Content(context.Background(), 3, "link"); string(c.Data) != "sub/b" {
				t.Errorf("the link is %+v (%v)", c, err)
			}
			for _, path := range []string{"../x", "/etc/passwd", ".", "", "sub/../.."} {
				_, err := f.Content(context.Background(), 1, path)
				if _, outside := errors.AsType[*OutsideError](err); !outside {
					t.Errorf("%q: %v", path, err)
				}
			}
		})
	}
}

// A file comes as git's checkout writes it, and one that is too large isn't read.
func TestAFileComesThroughItsFilters(t *testing.T) {
	f := repository(t, ".gitattributes", "*.crlf eol=crlf\n*.big filter=grow\n", "a.crlf", "1\r\n", "large", "", "most", "")
	f.opts.MaxFile = 0
	f.setForUser("filter.grow.smudge", "cat; head -c 20000000 /dev/zero")
	f.loop()
	f.after(1, "large", strings.Repeat("x", MaxContent+1), "most", strings.Repeat("x", MaxContent), "pointer.big", "small")
	f.holds(1, "a.crlf", "1\r\n")
	f.holds(1, "most", strings.Repeat("x", MaxContent))
	for _, path := range []string{"large", "pointer.big"} {
		_, err := f.Content(context.Background(), 1, path)
		if _, large := errors.AsType[*TooLargeError](err); !large {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestIterationsThatChangedSomething(t *testing.T) {
	f := repository(t, "a", "1\n", "sub/b", "b\n", "run", "x\n").loop()
	f.after(1, "a", "1\n2\n", "new\t\n", "n\n")
	f.after(2)
	f.write("a", "mine\n")
	f.start()
	f.must(os.Chmod(f.path("run"), 0o755))
	f.after(3, "a", "mine\n3\n", "sub/b", gone, "sub/c", "b\n")
	f.after(4, "bin", "\x00\x01")
	list := func(r Range, paths ...string) (got []string) {
		t.Helper()
		all, err := f.Iterations(context.Background(), r, paths)
		f.must(err)
		for _, it := range all {
			got = append(got, fmt.Sprintf("%d: %d +%d -%d", it.Number, it.Files, it.Added, it.Removed))
			files, err := f.Files(context.Background(), Range{it.Number - 1, it.Number}, paths)
			f.must(err)
			if Sum(files) != it.Summary {
				t.Errorf("iteration %d: %+v, its files %+v", it.Number, it.Summary, Sum(files))
			}
		}
		return got
	}
	for _, tt := range []struct {
		r     Range
		paths []string
		want  []string
	}{
		{Range{0, Latest}, nil, []string{"1: 2 +2 -0", "3: 3 +1 -0", "4: 1 +0 -0"}},
		{Range{1, 3}, nil, []string{"3: 3 +1 -0"}},
		{Range{0, Latest}, []string{"sub"}, []string{"3: 1 +0 -0"}},
		{Range{7, Latest}, nil, nil},
	} {
		if got := list(tt.r, tt.paths...); !slices.Equal(got, tt.want) {
			t.Errorf("%v %q: %q, want %q", tt.r, tt.paths, got, tt.want)
		}
	}
}

func TestThePatchIsForItsUserOnly(t *testing.T) {
	f := repository(t, "a", "1\n", "long", "")
	f.opts.MaxFile = 0
	f.loop()
	f.after(1, "a", "1\n2\n", "bin", "\x00")
	path, err := f.WritePatch(context.Background(), Range{0, 1}, nil, "Iteration 1")
	f.must(err)
	data, err := os.ReadFile(path)
	f.must(err)
	for _, want := range []string{"Iteration 1\n\ndiff --git a/a b/a\n", "+2\n", "Binary files /dev/null and b/bin differ"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("%q isn't in %s", want, data)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	f.after(2, "long", strings.Repeat("a line\n", MaxContent/7))
	path, err = f.WritePatch(context.Background(), Range{0, Latest}, nil, "All")
	f.must(err)
	data, err = os.ReadFile(path)
	if f.must(err); len(data) > MaxContent+1000 || !strings.HasSuffix(string(data), "+a line\n\nThe rest is left out: it is too long. git diff shows it all.\n") {
		t.Errorf("%d bytes, the end %q", len(data), data[len(data)-100:])
	}
}

// What is gone is no error of git's words alone.
func TestSnapshotsThatAreGone(t *testing.T) {
	f := repository(t, "a", "1\n").loop()
	f.after(1, "a", "2\n")
	f.must(os.RemoveAll(f.path(".git")))
	f.git("init", "-q", "--template=")
	if _, err := f.Files(context.Background(), Range{0, Latest}, nil); !errors.Is(err, ErrNone) {
		t.Errorf("of another repository: %v", err)
	}
	f.write("a", "3\n")
	if _, err := f.After(context.Background(), 2); !errors.Is(err, ErrNone) || f.git("for-each-ref") != "" {
		t.Errorf("the next one: %v, and the user's repository names what it hasn't", err)
	}
	f.must(os.RemoveAll(f.path(".git")))
	if _, err := Find(f.dir, "", f.opts); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), ".git is gone") {
		t.Errorf("without a repository: %v", err)
	}
}

func TestFilesKnowWhetherALaterIterationChangedThem(t *testing.T) {
	t.Parallel()
	f := repository(t, "a", "1\n", "b", "1\n", "dir/c", "1\n").loop()
	f.after(1, "a", "2\n", "b", "2\n", "dir/c", "2\n")
	f.after(2, "a", "3\n")
	f.write("b", "mine\n")
	f.undo(Undo{Iteration: 2}, []string{"a"}) // the user's own, as is what is undone
	f.after(3, "dir/c", gone)
	for r, want := range map[Range][]string{{0, 1}: {"b"}, {1, 2}: {"a"}, {2, 3}: {"dir/c"}} {
		files, err := f.Files(context.Background(), r, nil)
		var last []string
		for _, file := range files {
			if file.Last {
				last = append(last, file.Path)
			}
		}
		if err != nil || !slices.Equal(last, want) {
			t.Errorf("%v: %q, %v", r, last, err)
		}
	}
}
