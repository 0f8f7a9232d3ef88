package changes

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The snapshots of an older version were a row of commits with a ref each. They can be read, and
// become a tree with what comes next.
func TestSnapshotsOfAnOlderVersion(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, begin func(t testing.TB, files ...string) *folder) {
		f := begin(t, "a", "0\n").loop()
		f.after(1, "a", "1\n", "b", "1\n")
		f.after(2, "a", "2\n")
		f.undo(Undo{Iteration: 2}, []string{"a"})
		_, err := f.Keep(t.Context(), 1, []string{"b"}, true)
		f.must(err)
		f.makeOld()
		f.changed(Range{0, 1}, "modified a +1 -1", "added b +1 -0")
		isKept := func() {
			t.Helper()
			if files, err := f.Files(t.Context(), Range{0, 1}, []string{"b"}); err != nil || len(files) != 1 || !files[0].Kept {
				t.Errorf("b isn't kept any more: %+v, %v", files, err)
			}
		}
		isKept()
		before, err := f.steps(t.Context())
		f.must(err)
		_, err = f.Redo(t.Context(), false)
		f.must(err)
		f.has("a", "2\n")
		if can, err := f.CanRedo(t.Context()); err != nil || can {
			t.Errorf("it can be redone again: %v, %v", can, err)
		}
		after, err := f.steps(t.Context())
		if f.must(err); len(after) != len(before)+1 || !slices.Equal(after[:len(before)], before) {
			t.Errorf("of\n%+v\ncame\n%+v", before, after)
		}
		if refs := f.inStore("for-each-ref", "--format=%(refname)"); !slices.Equal(slices.DeleteFunc(strings.Fields(refs), func(ref string) bool { return !strings.HasPrefix(ref, "refs/ralph/") }), []string{"refs/ralph/ralph-test/files"}) {
			t.Errorf("there are\n%s", refs)
		}
		f.open("ralph-test")
		isKept()
		f.changed(Range{0, 1}, "modified a +1 -1", "added b +1 -0")
		f.undo(Undo{Since: 1}, []string{"a", "b"})
		f.has("a", "0\n")
	})
}

// Snapshots that another machine has made are read from a copy of its repository.
func TestSnapshotsOfAnotherMachine(t *testing.T) {
	t.Parallel()
	f := repository(t, "a", "0\n").loop()
	f.after(1, "a", "1\n")
	for _, isOld := range []bool{false, true} {
		if isOld {
			f.makeOld()
		}
		dir := t.TempDir()
		mirror, home := filepath.Join(dir, "mirror"), filepath.Join(dir, "home")
		f.must(os.Mkdir(home, 0o700))
		f.git("clone", "-q", "--mirror", f.dir, mirror)
		f.must(Adopt(t.Context(), home, dir, mirror, "theirs"))
		s, err := Open(home)
		f.must(err)
		if patch, err := s.Patch(t.Context(), Range{0, Latest}, nil); err != nil || !strings.Contains(string(patch), "-0\n+1\n") {
			t.Errorf("%s, %v", patch, err)
		}
	}
	f.git("update-ref", "-d", "refs/ralph/ralph-test/last")
	f.git("update-ref", "-d", "refs/ralph/ralph-test/1")
	if err := Adopt(t.Context(), t.TempDir(), f.dir, f.path(".git"), "theirs"); !errors.Is(err, ErrNone) {
		t.Errorf("where there are none: %v", err)
	}
}

// inStore is git where the snapshots are.
func (f *folder) inStore(args ...string) string {
	f.t.Helper()
	out, err := f.Store.git.Text(f.t.Context(), nil, args...)
	f.must(err)
	return out
}

// makeOld makes of the snapshots what an older version would have made.
func (f *folder) makeOld() {
	f.t.Helper()
	steps, err := f.steps(f.t.Context())
	f.must(err)
	f.inStore("update-ref", "-d", "refs/ralph/ralph-test/files")
	commit, ids := "", map[string]string{}
	for _, st := range steps {
		subject := string(st.Kind)
		if about := st.about(); st.Kind == kindRedo {
			subject += " " + ids[about]
		} else if about != "" {
			subject += " " + about
		}
		args := []string{"commit-tree", "-m", subject, st.tree}
		if commit != "" {
			args = append(args, "-p", commit)
		}
		commit = f.inStore(args...)
		ids[st.id] = commit
		name := "last"
		if st.Kind == kindIteration {
			name = strconv.Itoa(st.Number)
		}
		f.inStore("update-ref", "refs/ralph/ralph-test/"+name, commit)
	}
	f.inStore("update-ref", "refs/ralph/ralph-test/last", commit)
	f.must(f.writeOwn(tipName, []byte(commit+" "+steps[len(steps)-1].tree+"\n")))
	marks, err := f.marks()
	f.must(err)
	for path, m := range marks {
		m.id = ids[m.id]
		marks[path] = m
	}
	f.must(f.writeMarks(marks))
}
