package paths

import (
	"os"
	"path/filepath"
	"testing"
)

func TestReal(t *testing.T) {
	dir := Real(t.TempDir())
	link := filepath.Join(dir, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(link, "gone")
	t.Chdir(dir)
	for path, want := range map[string]string{link: dir, dir: dir, gone: gone, ".": dir, "link": dir, "gone": filepath.Join(dir, "gone")} {
		if got := Real(path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}
