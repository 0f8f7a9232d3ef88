package changes

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// checkout is one of a folder's, as a folder of the test.
func (f *folder) checkout(name, tree string) (*Checkout, *folder) {
	f.t.Helper()
	c, err := f.Make(context.Background(), filepath.Join(f.t.TempDir(), name), tree)
	must.OK(f.t, err)
	return c, &folder{t: f.t, dir: c.Top()}
}

func (f *folder) work(c *Checkout, paths ...string) Work {
	f.t.Helper()
	w, err := c.Work(context.Background())
	if err != nil || !slices.Equal(w.Paths, paths) {
		f.t.Errorf("changed are %q, %v; want %q", w.Paths, err, paths)
	}
	return w
}

func TestACheckoutHasTheFilesAndTheHistoryAndLeadsNowhere(t *testing.T) {
	t.Parallel()
	f := repository(t, "a", "1\n", "deep/b", "b\n", ".gitignore", "out\n")
	f.git("tag", "v1")
	f.write("a", "2\n", "new", "n\n", "out", "o\n", ".git/info/exclude", "mine\n")
	head, branch := f.git("rev-parse", "HEAD"), strings.TrimSpace(f.git("branch", "--show-current"))
	f.opts.MaxFile = 1000
	taken := f.loop().start()
	c, own := f.checkout("1", taken.Tree)
	own.has("a", "2\n", "deep/b", "b\n", "new", "n\n", "out", gone)
	if got := own.git("rev-parse", "HEAD", branch, "v1"); got != strings.Repeat(head, 3) {
		t.Errorf("the commits are %q, want %q", got, head)
	}
	own.write("mine", "m\n")
	if got := own.git("status", "--short"); got != " M a\n?? new\n" {
		t.Errorf("changed are %q", got)
	}
	if got := own.git("branch", "--show-current"); got != "" {
		t.Errorf("it is on the branch %q", got)
	}
	before := f.git("for-each-ref")
	own.write("deep/b", gone, "c", "c\n", "big", strings.Repeat("x", 2000))
	own.git("add", "-A")
	own.git("commit", "-q", "-m", "x")
	own.git("branch", "-f", branch)
	own.git("config", "core.excludesFile", "/nowhere")
	if w := f.work(c, "c", "deep/b"); len(w.Notes) != 1 || !strings.HasPrefix(w.Notes[0], "big (") {
		t.Errorf("left out are %q", w.Notes)
	}
	if after := f.git("for-each-ref"); after != before || f.git("rev-parse", "HEAD") != head {
		t.Errorf("the repository has %s; had %s", after, before)
	}
	f.has("deep/b", "b\n", "c", gone)
}

func TestACheckoutOfAFolderInARepository(t *testing.T) {
	t.Parallel()
	f := repository(t, "top", "t\n", "sub/a", "1\n")
	f.dir = f.path("sub")
	c, own := f.checkout("1", f.loop().start().Tree)
	own.has("top", "t\n", "sub/a", "1\n")
	if c.Folder() != own.path("sub") {
		t.Errorf("its folder is %s", c.Folder())
	}
	own.write("sub/a", "2\n", "top", "t2\n")
	w := f.work(c, "a")
	if refused, _, err := f.Land(context.Background(), 1, c.Base, []Work{w}, ""); err != nil || refused[0] != nil {
		t.Errorf("%v, %v", refused, err)
	}
	f.has("a", "2\n", "../top", "t\n")
}

func TestACheckoutOfARepositoryWithoutACommit(t *testing.T) {
	t.Parallel()
	f := bare(t, "a", "1\n")
	f.git("init", "-q")
	_, own := f.checkout("1", f.loop().start().Tree)
	if got := own.git("status", "--short"); got != "?? a\n" {
		t.Errorf("new are %q", got)
	}
}

func TestThereIsNoCheckoutWithoutARepository(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	f := bare(t, "a", "1\n")
	tree := f.loop().start().Tree
	if _, err := f.Make(ctx, filepath.Join(t.TempDir(), "1"), tree); !errors.Is(err, ErrNoRepository) {
		t.Error(err)
	}
	if err := CanCheckOut(ctx, f.dir, f.opts); !errors.Is(err, ErrNoRepository) {
		t.Error(err)
	}
	if err := CanCheckOut(ctx, repository(t).dir, f.opts); err != nil {
		t.Error(err)
	}
}

func TestWorkIsMergedFileByFile(t *testing.T) {
	t.Parallel()
	f := repository(t, "PLAN", "p\n", "text", ten, "gone", "g\n", "kept", "k\n", "x", "x\n").loop()
	tree := f.start().Tree
	var works []Work
	for i, files := range [][]string{
		{"text", "one\n" + ten[2:], "PLAN", "1\n", "gone", gone, "new/a", "a\n"},
		{"text", ten[:len(ten)-3] + "two\n", "PLAN", "2\n", "x", gone},
		{"text", "three\n" + ten[2:], "three", "3\n"}, // conflicts with the first
		{"kept", gone},       // conflicts with the user
		{"new/a", "other\n"}, // the first made it, too
	} {
		c, own := f.checkout(string(rune('1'+i)), tree)
		own.write(files...)
		w, err := c.Work(context.Background())
		must.OK(t, err)
		works = append(works, w)
	}
	f.write("kept", "k2\n", "mine", "m\n")
	refused, taken, err := f.Land(context.Background(), 1, tree, works, "PLAN")
	must.OK(t, err)
	var said []string
	for _, rs := range refused {
		text := ""
		for _, r := range rs {
			text += r.Path + ": " + r.Reason + ";"
		}
		said = append(said, text)
	}
	if want := []string{"", "", "text: " + whyEdited + ";", "kept: " + whyDropped + ";", "new/a: " + whyThere + ";"}; !slices.Equal(said, want) {
		t.Errorf("refused are %q, want %q", said, want)
	}
	f.has("text", "one\n"+ten[2:len(ten)-3]+"two\n", "PLAN", "p\n", "gone", gone, "x", gone, "new/a", "a\n", "three", gone, "kept", "k2\n", "mine", "m\n")
	if taken.Files != 2 {
		t.Errorf("before that %d files were changed, want the user's 2", taken.Files)
	}
	f.after(1)
	f.changed(Range{0, 1}, "deleted gone +0 -1", "modified kept +1 -1", "added mine +1 -0", "added new/a +1 -0", "modified text +2 -2", "deleted x +0 -1")
	if entries, err := os.ReadDir(filepath.Dir(f.path("text"))); err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), ".ralph") }) {
		t.Errorf("%v, %v", entries, err)
	}
}
