package changes

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// places are "a:3 +1 -0 text" for each place, sorted by file.
func (f *folder) places(r Range, want ...string) {
	f.t.Helper()
	found, err := f.Places(context.Background(), r, nil)
	var got []string
	for _, path := range slices.Sorted(maps.Keys(found)) {
		for _, p := range found[path] {
			got = append(got, fmt.Sprintf("%s:%d +%d -%d %s", path, p.Line, p.Added, p.Removed, p.Text))
		}
	}
	if err != nil || !slices.Equal(got, want) {
		f.t.Errorf("%+v: %q, want %q, %v", r, got, want, err)
	}
}

func TestPlacesAreWhereAFileChanged(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, begin func(t testing.TB, files ...string) *folder) {
		ten := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
		f := begin(t, "a", ten, "gone", "x\n", "bin", "\x00\x01", "old", ten).loop()
		f.after(1, "a", strings.NewReplacer("2\n3\n", "two\n", "8\n", "", "10\n", "10\n++ x\n+++ y\n").Replace(ten),
			"gone", gone, "bin", "\x00\x02", "new", "@@ -1 +1 @@\nn\n", "old", gone, "re named\t", ten+"e\n", "\xff\"\n", "q\n")
		f.places(Range{0, 1}, "a:2 +1 -2 two", "a:6 +0 -1 8", "a:9 +2 -0 ++ x", "new:1 +2 -0 @@ -1 +1 @@",
			"re named\t:11 +1 -0 e", "\xff\"\n:1 +1 -0 q")
		f.after(2, "a", "0\n0\n1\ntwo\n4\n5\n6\n7\n9\n10\n++ x\n+++ y\n")
		f.places(Range{0, 1}, "a:4 +1 -2 two", "a:8 +0 -1 8", "a:11 +2 -0 ++ x", "new:1 +2 -0 @@ -1 +1 @@",
			"re named\t:11 +1 -0 e", "\xff\"\n:1 +1 -0 q")
		f.places(Range{1, 2}, "a:1 +2 -0 0")
		f.after(3, "a", gone)
		f.places(Range{2, 3})
	})
}

func TestPlacesOfAFileAreBounded(t *testing.T) {
	t.Parallel()
	f := bare(t, "a", strings.Repeat("x\ny\n", 300)).loop()
	f.after(1, "a", strings.Repeat("x\nz\n", 300))
	found, err := f.Places(context.Background(), Range{0, Latest}, nil)
	if err != nil || len(found["a"]) != maxPlaces || found["a"][1] != (Place{Line: 4, Added: 1, Removed: 1, Text: "z"}) {
		t.Errorf("%d places, %v", len(found["a"]), err)
	}
}
