package changes

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// State names how a folder was: the same names mean that nothing is new. The zero value is unknown.
type State struct {
	Tree string // the content of all files that snapshots have
	// Aside sums up what a snapshot doesn't have and that changes all the same: the
	// repository's commits and branches, and files that are too large. It means
	// nothing in another process.
	Aside uint64
	// Blind: there is more that may change unseen, such as a repository in the folder.
	Blind bool
}

// Past is a tree that the files had, and after which iteration: 0 is before the first.
type Past struct {
	Tree      string
	Iteration int
}

// Trees are those that the files had since somebody but an iteration changed them
// last, the oldest first; none of a loop that has no snapshots yet.
func (s *views) Trees(ctx context.Context) ([]Past, error) {
	snapshots, err := s.snapshots()
	if errors.Is(err, ErrNone) {
		return nil, nil
	}
	var trees []Past
	iteration := 0
	for _, st := range snapshots {
		if st.isWork() {
			iteration = st.Number
		} else {
			trees = nil
		}
		trees = append(trees, Past{st.tree, iteration})
	}
	return trees, err
}

// Shows says whether snapshots have what a tool writes to a file, whose path is
// absolute: it is in the folder, and git doesn't ignore it. Our own files count as
// shown.
func (s *shots) Shows(ctx context.Context, path string) bool {
	name, err := filepath.Rel(s.book.Folder, filepath.Join(paths.Real(filepath.Dir(path)), filepath.Base(path)))
	if err != nil || !filepath.IsLocal(name) {
		return false
	}
	name = filepath.ToSlash(name)
	if s.book.skips(name) {
		return true
	}
	g := s.git.With("GIT_LITERAL_PATHSPECS=0") // it refuses them
	_, err = g.Run(ctx, []byte(s.book.prefix()+name+"\x00"), "check-ignore", "-z", "--stdin")
	return git.ExitCode(err) == 1
}

// state is how the folder is with a tree that was just looked at.
func (s *shots) state(tree string, refs uint64) State {
	return State{Tree: tree, Aside: refs ^ s.left, Blind: s.blind || s.isDark}
}

// IsWhole says whether the last snapshot has all files of the repository's work tree as they were,
// but for those that are nobody's work and those that git ignores.
func (s *shots) IsWhole() bool {
	return !s.book.Own && s.book.prefix() == "" && len(s.book.Hidden) == 0 && s.left == 0 && !s.blind
}

// AsIs is the tree of the folder's files as they are now, byte for byte, but for skip and those that git ignores. It is
// "" where the last snapshot has another one, or nobody can tell without git.
func (s *shots) AsIs(skip []string) string {
	now, _ := s.book.look(s.printed)
	if !s.book.AsIs || !s.IsWhole() || !slices.Equal(s.book.Skip, skip) || now.sum == 0 || now.sum != s.seen.sum {
		return ""
	}
	return s.seen.tip.tree
}

// noteLeft takes note of a file that isn't in the snapshot.
func (s *shots) noteLeft(name string) {
	t, err := traceOf(filepath.Join(s.book.Top, filepath.FromSlash(name)))
	if err != nil || t.isDir {
		s.blind = true
		return
	}
	one := Stamp{}
	one.add(name, t)
	s.left += one.sum // in no order
}

// maxRefs bounds how many files are looked at for the repository's commits.
const maxRefs = 4000

// refsNow sums up the repository's branches, tags and what HEAD is, but for ours, and the same of repositories below the
// folder with their files: no snapshot has them.
func (s *shots) refsNow() uint64 {
	sum := Stamp{}
	if !s.book.Own {
		sum.addRefs(s.book.GitDir)
	}
	if s.below == nil {
		s.below = append([]git.Repository{}, git.Below(s.book.Folder)...)
	}
	for _, r := range s.below {
		sum.addRefs(r.Dir)
		files, isLarge := StampOf(r.Top, func(path, _ string) bool { return filepath.Base(path) == ".git" })
		sum.sum, s.isDark = sum.sum*31+files.sum, s.isDark || isLarge
	}
	return sum.sum
}

func (s *Stamp) addRefs(gitDir string) {
	common := commonDir(gitDir)
	look := func(path string) {
		if t, err := traceOf(path); err == nil {
			t.changed = 0 // a link more, by a backup say, is no news
			s.add(path, t)
		}
	}
	head, _ := regular.Read(filepath.Join(gitDir, "HEAD"), regular.Short) // git writes it anew without a change
	s.add(string(head), trace{})
	look(filepath.Join(common, "packed-refs"))
	look(filepath.Join(common, "reftable", "tables.list"))
	left := maxRefs
	_ = filepath.WalkDir(filepath.Join(common, "refs"), func(path string, entry fs.DirEntry, err error) error {
		switch left--; {
		case err != nil:
			return nil // gone meanwhile: the next look sees it
		case left < 0:
			return fs.SkipAll
		case entry.IsDir() && entry.Name() == "ralph":
			return fs.SkipDir
		case !entry.IsDir():
			look(path)
		}
		return nil
	})
}
