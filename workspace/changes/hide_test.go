package changes

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// What agents may not read is in no snapshot: git shows these to whoever may read the repository.
func TestWhatIsHiddenIsInNoSnapshot(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(t testing.TB) *folder{
		"a repository": func(t testing.TB) *folder { return repository(t, "a", "1\n") },
		"one of ours":  func(t testing.TB) *folder { return bare(t, "a", "1\n") },
		"a subfolder": func(t testing.TB) *folder {
			f := repository(t, "sub/a", "1\n")
			f.dir = f.path("sub")
			return f
		},
		"it is staged": func(t testing.TB) *folder {
			f := repository(t, "a", "1\n")
			f.write("secret.env", "the secret 0\n")
			f.git("add", "secret.env")
			return f
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := begin(t)
			f.opts.Hidden = []string{"secret.env", "keys"}
			f.write("secret.env", "the secret 1\n", "secret.environment", "1\n", "keys/a", "the secret 2\n", "keyserver", "1\n")
			for _, id := range []string{"first", "second"} {
				f.open(id)
				if notes := f.start().Notes; notes != nil {
					t.Errorf("notes %q", notes)
				}
				f.after(1, "secret.env", "the secret 3"+id, "keys/b", "the secret 4\n", "secret.environment", id, "a", id)
				f.changed(Range{0, 1}, "modified a +1 -1", "modified secret.environment +1 -1")
				names := f.inStore("rev-list", "--objects", "--no-object-names", "--glob=refs/ralph/*")
				shown, err := f.archive.git.Run(t.Context(), []byte(names+"\n"), "cat-file", "--batch")
				f.must(err)
				if objects := string(shown); strings.Contains(objects, "the secret") || !strings.Contains(objects, "keyserver") {
					t.Errorf("git shows\n%s", objects)
				}
				f.undo(Undo{Since: 1}, []string{"a", "secret.environment"})
				f.has("secret.env", "the secret 3"+id, "keys/b", "the secret 4\n")
			}
		})
	}
}

// Snapshots that a loop before has made of it can't be taken back, so its user is told.
func TestWhatWasNotHiddenBeforeIsTold(t *testing.T) {
	t.Parallel()
	f := repository(t, "a", "1\n")
	f.write("secret.env", "the secret 1\n")
	f.open("first")
	f.start()
	f.opts.Hidden = []string{"secret.env"}
	f.open("second")
	want := []string{"secret.env (hidden; snapshots of a loop before have it, so git shows it: refs/ralph/first/files:0)"}
	if notes := f.start().Notes; !slices.Equal(notes, want) {
		t.Errorf("%q, want %q", notes, want)
	}
}

// An older list of a long loop is looked through, too.
func TestWhatWasNotHiddenLongAgoIsTold(t *testing.T) {
	t.Parallel()
	f := repository(t, "a", "0\n")
	f.open("first")
	f.start()
	f.after(1, "secret.env", "the secret 1\n")
	for i := range 3 * perOlder {
		f.after(i+2, "a", fmt.Sprintln(i), "secret.env", gone)
	}
	f.opts.Hidden = []string{"secret.env"}
	f.open("second")
	want := []string{"secret.env (hidden; snapshots of a loop before have it, so git shows it: refs/ralph/first/files:older.0.1-3/1)"}
	if notes := f.start().Notes; !slices.Equal(notes, want) {
		t.Errorf("%q, want %q", notes, want)
	}
}
