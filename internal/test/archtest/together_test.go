package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func TestTogetherFindsRoomsWhereThingsHappenAtOnce(t *testing.T) {
	for _, tt := range []struct{ name, room, body, test, want string }{
		{"begins something", "a", "func f() { go f() }", "package a", "a"},
		{"begins it by a group", "a", "func f() { g.Go(f) }", "package a", "a"},
		{"begins it later", "a", "var _ = time.AfterFunc(1, f)", "package a", "a"},
		{"is guarded", "a", "type T struct { m sync.Mutex }", "package a", "a"},
		{"counts for several", "a", "var n atomic.Int64", "package a", "a"},
		{"does something once", "a", "var once sync.Once", "package a", ""},
		{"nothing", "a", "func f() { f() }", "package a; func f() { go f() }", ""},
		{"no test", "a", "func f() { go f() }", "", ""},
		{"tests of the real agents alone", "a", "func f() { go f() }", "//go:build e2e\n\npackage a", ""},
		{"made for tests", "internal/test/a", "func f() { go f() }", "package a", ""},
	} {
		files := []string{tt.room + "/a.go", "package a; " + tt.body}
		if tt.test != "" {
			files = append(files, tt.room+"/a_test.go", tt.test)
		}
		rooms, err := Together(tree(files...))
		if got := strings.Join(rooms, " "); err != nil || got != tt.want {
			t.Errorf("%s: %q, %v", tt.name, got, err)
		}
	}
	_, err := Together(tree("a.go", "func {"))
	compare(t, "no Go at all", nil, err, "reading what happens at once")
}

// What happens at once is tested with the race detector, and nothing else is.
func TestTheRaceDetectorSeesWhatHappensAtOnce(t *testing.T) {
	rooms, err := Together(os.DirFS(root))
	must.OK(t, err)
	makefile := must.Read(t, filepath.Join(root, "Makefile"))
	var listed []string
	for _, list := range regexp.MustCompile(`(?m)^RACES(_IN_PART)? := ((?:.*\\\n)*.*)`).FindAllSubmatch(makefile, -1) {
		listed = append(listed, strings.Fields(strings.ReplaceAll(string(list[2]), "\\\n", " "))...)
	}
	for _, room := range rooms {
		if !slices.Contains(listed, room) {
			t.Errorf("the Makefile's RACES lacks %s", room)
		}
	}
	for _, room := range listed {
		if !slices.Contains(rooms, room) {
			t.Errorf("the Makefile's RACES has %s, where nothing happens at once", room)
		}
	}
}
