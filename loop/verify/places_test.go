package verify

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func TestPlacesAreRelativeToTheFolder(t *testing.T) {
	outside := t.TempDir()
	folder := filepath.Join(outside, "shop")
	for _, name := range []string{
		"main.go", "cart/cart_test.go", "a/twice.go", "b/twice.go", "a/deep/x.go", "node_modules/m/index.js", ".cache/hidden.go", "../other/other.go", "dir.go/in.go",
	} {
		path := filepath.Join(folder, name)
		must.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.OK(t, os.WriteFile(path, nil, 0o644))
	}
	link := filepath.Join(outside, "link")
	must.OK(t, os.Symlink(folder, link))
	for printed, want := range map[string]string{
		"main.go":                            "main.go",
		"./main.go":                          "main.go",
		filepath.Join(folder, "main.go"):     "main.go",
		filepath.Join(link, "main.go"):       "main.go", // as the command calls its folder
		"cart_test.go":                       "cart/cart_test.go",
		"deep/x.go":                          "a/deep/x.go",
		"twice.go":                           "twice.go", // nobody knows which
		"a/twice.go":                         "a/twice.go",
		"art_test.go":                        "art_test.go", // no end of a name
		"index.js":                           "index.js",
		"hidden.go":                          "hidden.go",
		"../other/other.go":                  "../other/other.go",
		filepath.Join(outside, "other/x.go"): filepath.Join(outside, "other/x.go"),
		"dir.go":                             "dir.go", // no file
		"gone.go":                            "gone.go",
	} {
		problems := []Problem{{Path: printed}}
		if Locate(link, problems); problems[0].Path != want {
			t.Errorf("%s is %s, want %s", printed, problems[0].Path, want)
		}
	}
}
