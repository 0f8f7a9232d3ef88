package ask

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// shownWrites is a loop in a folder, and what its user is shown when claude asks to write a file there.
func shownWrites(t *testing.T) (dir string, shown func(name, content string) string) {
	dir = paths.Real(t.TempDir())
	r := Reader{Dir: dir, Folder: dir}
	return dir, r.showsWrite
}

func (r Reader) showsWrite(name, content string) string {
	input := []byte(JSON(map[string]string{"file_path": name, "content": content}))
	return r.Question(stream.Question{Method: "can_use_tool", Tool: "Write", Message: name, Input: input}).Detail
}

// Who is asked about a file that is written anew sees what that changes.
func TestAWriteIsShownAsADiff(t *testing.T) {
	dir, shown := shownWrites(t)
	ten := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	must.Write(t, filepath.Join(dir, "src/a.txt"), ten)
	must.Write(t, filepath.Join(dir, "bare"), "no end")
	must.Write(t, filepath.Join(dir, "empty"), "")
	must.OK(t, os.Symlink("src/a.txt", filepath.Join(dir, "within")))
	abs := filepath.Join(dir, "src/a.txt")
	for what, c := range map[string]struct{ name, content, want string }{
		"a line":       {abs, strings.Replace(ten, "6", "six", 1), "--- " + abs + "\n+++ " + abs + "\n@@ -3,7 +3,7 @@\n 3\n 4\n 5\n-6\n+six\n 7\n 8\n 9"},
		"by its place": {"src/a.txt", ten + "11\n", "--- src/a.txt\n+++ src/a.txt\n@@ -8,3 +8,4 @@\n 8\n 9\n 10\n+11"},
		"a link":       {"within", strings.Replace(ten, "1\n", "", 1), "--- within\n+++ within\n@@ -1,4 +1,3 @@\n-1\n 2\n 3\n 4"},
		"the same":     {"src/a.txt", ten, "--- src/a.txt\n+++ src/a.txt\nThe file is like that already."},
		"an end":       {"bare", "no end\n", "--- bare\n+++ bare\n@@ -1,1 +1,1 @@\n-no end\n\\ No newline at end of file\n+no end"},
		"a new one":    {"src/new.txt", "a\n\nb", "+++ src/new.txt\n+a\n+\n+b"},
		"a new folder": {"x/y/new.txt", "a", "+++ x/y/new.txt\n+a"},
		"was empty":    {"empty", "a\n", "--- empty\n+++ empty\n@@ -0,0 +1,1 @@\n+a"},
		"is emptied":   {"src/a.txt", "", "--- src/a.txt\n+++ src/a.txt\n@@ -1,10 +0,0 @@\n-1\n-2\n-3\n-4\n-5\n-6\n-7\n-8\n-9\n-10"},
		"a long name":  {"a\n+++ b", "x", "+++ a +++ b\n+x"},
	} {
		if got := shown(c.name, c.content); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", what, got, c.want)
		}
	}
}

// An agent names the file, and nobody's walls are around who reads it.
func TestAWriteShowsNothingThatIsNotTheFolders(t *testing.T) {
	dir, shown := shownWrites(t)
	outside := t.TempDir()
	must.Write(t, filepath.Join(outside, "key"), "secret")
	must.Write(t, filepath.Join(dir, "noise"), "secret\x00")
	must.Write(t, filepath.Join(dir, "latin"), "secret\xe9")
	must.Write(t, filepath.Join(dir, "huge"), "secret"+strings.Repeat("x", maxCompared))
	must.Write(t, filepath.Join(dir, "fits"), strings.Repeat("x\n", maxCompared/2))
	for link, to := range map[string]string{"out": filepath.Join(outside, "key"), "dir": outside, "gone": filepath.Join(outside, "none")} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip("no links here:", err)
		}
	}
	up, err := filepath.Rel(dir, filepath.Join(outside, "key"))
	must.OK(t, err)
	for name, why := range map[string]string{
		filepath.Join(outside, "key"): "outside of the folder",
		up:                            "outside of the folder",
		"out":                         "not readable, or outside of the folder",
		"gone":                        "not readable, or outside of the folder",
		"dir/key":                     "not readable, or outside of the folder",
		".":                           "not a regular file",
		"noise":                       "not a text",
		"latin":                       "not a text",
		"huge":                        "larger than 1 MiB",
	} {
		want := fmt.Sprintf("--- %s (%s, so it isn't compared)\n+++ %s\n+new", name, why, name)
		if got := shown(name, "new\n"); got != want {
			t.Errorf("%s:\n%.300s", name, got)
		}
	}
	if got := shown("fits", strings.Repeat("x\n", maxCompared/2-1)); !strings.HasPrefix(got, "--- fits\n+++ fits\n@@") {
		t.Errorf("of the size that is compared: %.300s", got)
	}
}

// What would be written is shown first of all, however much goes.
func TestALongDiffShowsWhatIsWritten(t *testing.T) {
	dir, shown := shownWrites(t)
	old := strings.Repeat("old text\n", 20_000)
	must.Write(t, filepath.Join(dir, "a"), old)
	must.Write(t, filepath.Join(dir, "line"), "keep "+strings.Repeat("x", 100_000)+"\nold\n")
	got := shown("a", "new text\n")
	if !strings.Contains(got, "-old text\n… ") || !strings.Contains(got, " lines left out …\n-old text\n") || !strings.HasSuffix(got, "\n+new text") || len(got) > 2*maxTaken {
		t.Errorf("%s", got)
	}
	must.Write(t, filepath.Join(dir, "short"), strings.Repeat("old text\n", 1000))
	if got := shown("short", "new text\n"); strings.Count(got, "-old text\n") != 1000 {
		t.Errorf("one that isn't long has all: %s", got)
	}
	if got := shown("line", "keep "+strings.Repeat("x", 100_000)+"\nnew\n"); !strings.HasSuffix(got, "\n-old\n+new") || len(got) > 2*maxTaken {
		t.Errorf("%s", got)
	}
	if got := shown("a", strings.Repeat("new text\n", 20_000)); len(got) > MaxDetail || !strings.Contains(got, "more)") || strings.Count(got, "+new text\n") < 5000 {
		t.Errorf("%d bytes: %.3000s", len(got), got)
	}
}

// Two contents, of which one is shown and the other may be written, are no content.
func TestAnAmbiguousWriteIsShownAsItIs(t *testing.T) {
	for _, input := range []string{`{"file_path":"a","content":"evil","Content":"nice"}`, `{"file_path":"a","content":"evil","content":"nice"}`} {
		q := Reader{Dir: t.TempDir()}.Question(stream.Question{Method: "can_use_tool", Tool: "Write", Input: []byte(input)})
		if !strings.Contains(q.Detail, "evil") || !strings.Contains(q.Detail, "nice") {
			t.Errorf("%s: %s", input, q.Detail)
		}
	}
}
