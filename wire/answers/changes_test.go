package answers

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// More files than fit into an answer come page by page, none twice.
func TestManyChangedFilesComeInPages(t *testing.T) {
	var files []changes.File
	for i := range 2*MaxChangedFiles + 1 {
		files = append(files, changes.File{Path: fmt.Sprintf("\xff%06d", i), Status: changes.Added, Added: 1, Kept: i == 0})
	}
	var got []string
	after := ""
	for pages := 1; ; pages++ {
		r := ChangesOf(wire.ChangesParams{After: after}, "/w", files, nil)
		if r.Text != "10001 files, +10001 -0" || r.Reviewed != 1 {
			t.Errorf("got %q, %d", r.Text, r.Reviewed)
		}
		for _, f := range r.Files {
			path, err := PathFrom(f.Path)
			must.OK(t, err)
			got = append(got, path)
		}
		if !r.More {
			if pages != 3 {
				t.Errorf("%d pages", pages)
			}
			break
		}
		after = r.Files[len(r.Files)-1].Path
	}
	if !slices.EqualFunc(got, files, func(path string, f changes.File) bool { return path == f.Path }) {
		t.Errorf("%d paths of %d files", len(got), len(files))
	}
}

func FuzzAPathComesBack(f *testing.F) {
	for _, path := range []string{"a b", "caf\xe9", `"`, `\`, "\"\xff\\\n", "日本", "�"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		text := PathText(path)
		if got, err := PathFrom(text); got != path || err != nil {
			t.Errorf("%q is %q and comes back as %q, %v", path, text, got, err)
		}
		if slices.Contains([]rune(text), '\uFFFD') && !slices.Contains([]rune(path), '\uFFFD') {
			t.Errorf("%q is no UTF-8", text)
		}
	})
}
