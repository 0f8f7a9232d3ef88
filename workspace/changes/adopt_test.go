package changes

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Snapshots that another machine has made are read from a copy of its repository.
func TestSnapshotsOfAnotherMachine(t *testing.T) {
	t.Parallel()
	f := repository(t, "a", "0\n").loop()
	f.after(1, "a", "1\n")
	dir := t.TempDir()
	mirror, home := filepath.Join(dir, "mirror"), filepath.Join(dir, "home")
	f.must(os.Mkdir(home, 0o700))
	f.git("clone", "-q", "--mirror", f.dir, mirror)
	f.must(Adopt(t.Context(), home, dir, mirror, "theirs"))
	s, err := Open(home)
	f.must(err)
	if patch, err := s.Diff.Patch(t.Context(), Range{0, Latest}, nil); err != nil || !strings.Contains(string(patch), "-0\n+1\n") {
		t.Errorf("%s, %v", patch, err)
	}
	f.git("update-ref", "-d", "refs/ralph/ralph-test/files")
	if err := Adopt(t.Context(), t.TempDir(), f.dir, f.path(".git"), "theirs"); !errors.Is(err, ErrNone) {
		t.Errorf("where there are none: %v", err)
	}
}
