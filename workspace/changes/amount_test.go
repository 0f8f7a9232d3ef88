//go:build !race

package changes

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
)

// A folder of 5,000 files that git doesn't know is small work, and one more
// isn't told as all of them.
func TestManyUnknownFiles(t *testing.T) {
	t.Parallel()
	var pairs []string
	for i := range 5_000 {
		pairs = append(pairs, name(i), fmt.Sprintf("%d\n", i))
	}
	f := repository(t, "a", "1\n")
	f.write(pairs...)
	f.loop()
	if packs, err := filepath.Glob(f.path(".git/objects/pack/*.pack")); git.PacksObjects(f.git("version")) && (err != nil || len(packs) != 1) {
		t.Errorf("%d packs, %v", len(packs), err)
	}
	f.after(1, "a", "2\n", name(7), "changed\n")
	f.changed(Range{0, 1}, "modified a +1 -1", "modified "+name(7)+" +1 -1")
	f.undo(Undo{Iteration: 1}, []string{"a", name(7)})
	f.has("a", "1\n", name(7), "7\n")
}
